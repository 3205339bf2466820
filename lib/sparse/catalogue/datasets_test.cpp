#include "sparse/catalogue/datasets.hpp"

#include "sparse/catalogue/digest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

/// A folder of fetched matrices that goes away with the test.
class Cache
{
public:
    Cache() : folder_{fs::temp_directory_path() / ("memwall_cache_" + std::to_string(getpid()))}
    {
        fs::create_directories(folder_ / "Group");
    }
    ~Cache() { fs::remove_all(folder_); }
    Cache(Cache const&) = delete;
    Cache& operator=(Cache const&) = delete;

    fs::path const& folder() const { return folder_; }

    fs::path write(std::string const& name, std::string const& text) const
    {
        auto const path = folder_ / "Group" / name;
        std::ofstream{path} << text;
        return path;
    }

private:
    fs::path folder_;
};

/// Two catalogue entries: the 5-point stencil of a 2x2 grid, and "Group/file" of 2 x 3, 3 nonzeros.
sparse::Catalogue small_catalogue(std::string const& lock = "")
{
    return {R"(
        [matrix.grid]
        about = "a grid"
        generator = "poisson2d"
        n = 2
        [matrix.bad]
        about = "a band wider than its matrix"
        generator = "banded"
        rows = 3
        width = 4
        [matrix.fetched]
        about = "from the collection"
        group = "Group"
        name = "file"
        rows = 2
        columns = 3
        nonzeros = 3
        [set.one]
        tiny = ["grid"]
        quick = ["grid"]
        full = ["grid"]
    )",
            "cat.toml", lock, "cat.lock"};
}

/// 1, 2, 3, ...
struct Count
{
    template <class T>
    void operator()(std::span<T> values) const
    {
        std::iota(values.begin(), values.end(), T{1});
    }
};

std::string const file_text = "%%MatrixMarket matrix coordinate pattern general\n"
                              "2 3 3\n1 1\n1 3\n2 2\n";

} // namespace

TEST_CASE("a generated matrix has the structure of its generator and the values of the filler")
{
    sparse::Datasets datasets{small_catalogue(), "nowhere"};
    CHECK(datasets.set("one").tiny == std::vector<std::string>{"grid"});
    auto const a = datasets.load<float>("grid", Count{});
    auto const expected = sparse::poisson2d(2);
    CHECK(a.rows == 4);
    CHECK(a.columns == 4);
    CHECK(a.row_ptr == expected.row_ptr);
    CHECK(a.col == expected.col);
    CHECK(a.values == sparse::Array<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    auto const b = datasets.load<double>(
        "grid", [](std::span<double> v) { std::fill(v.begin(), v.end(), 0.5); });
    CHECK(b.col == expected.col);
    CHECK(b.values == sparse::Array<double>(12, 0.5));
}

TEST_CASE("a large cache asks for larger matrices in the full profile alone")
{
    sparse::Datasets const datasets;
    auto const& plain = datasets.set("serial");
    CHECK(datasets.set_beyond_cache("serial", 100'000'000).full == plain.full);
    auto const large = datasets.set_beyond_cache("serial", 300'000'000);
    CHECK(large.full == plain.xl);
    CHECK(large.full != plain.full);
    CHECK(datasets.set_beyond_cache("odd", 300'000'000).full == datasets.set("odd").full);
    CHECK(large.quick == plain.quick);
    CHECK(large.tiny == plain.tiny);
    CHECK_THROWS_AS(datasets.set_beyond_cache("none", 0), std::invalid_argument);
}

TEST_CASE("a smaller copy says that it stands for a larger matrix")
{
    sparse::Datasets const datasets;
    CHECK(datasets.stands_for_larger("pois2d-small"));
    CHECK_FALSE(datasets.stands_for_larger("pois2d-tiny"));
    CHECK(datasets.stands_for_larger("pois2d")); // a cache of 300 MB holds it
    CHECK_FALSE(datasets.stands_for_larger("pois2d-xl"));
    CHECK_FALSE(datasets.stands_for_larger("mine/pois2d-small.mtx"));
}

TEST_CASE("the last structure is kept")
{
    Cache const cache;
    auto const path = cache.write("mine.mtx", file_text);
    sparse::Datasets datasets{small_catalogue(), cache.folder()};
    CHECK(datasets.structure(path).nonzeros() == 3);
    fs::remove(path);
    CHECK(datasets.load<double>(path, Count{}).values.back() == 3);
    CHECK(datasets.structure("grid").rows == 4);
    CHECK_THROWS_WITH(datasets.structure(path), doctest::Contains("mine.mtx: "));
    CHECK(datasets.structure("grid").rows == 4);
}

TEST_CASE("a description has the digest and the features")
{
    Cache const cache;
    auto const path = cache.write("mine.mtx", "%%MatrixMarket matrix coordinate pattern general\n"
                                              "4 5 6\n1 2\n1 3\n1 5\n3 1\n3 2\n3 3\n");
    sparse::Datasets datasets{small_catalogue(), cache.folder()};
    auto const& description = datasets.description(path);
    CHECK(description.sha256 == sparse::structure_digest(datasets.structure(path)));
    std::vector<std::pair<std::string, double>> const expected{
        {"rows", 4},    {"columns", 5},   {"nonzeros", 6},   {"mean_row", 1.5},
        {"max_row", 3}, {"std_row", 1.5}, {"empty_rows", 2}, {"nzseg_per_nnz", 0.5}};
    CHECK(description.features == expected);
    fs::remove(path);
    datasets.structure("grid");
    CHECK(&datasets.description(path) == &description);
}

TEST_CASE("names with a slash or a Matrix Market ending are paths")
{
    Cache const cache;
    cache.write("file.mtx", file_text);
    sparse::Datasets datasets{small_catalogue(), cache.folder()};
    auto const before = fs::current_path();
    fs::current_path(cache.folder() / "Group");
    CHECK(datasets.structure("file.mtx").columns == 3);
    CHECK(datasets.structure("./file.mtx").columns == 3);
    CHECK_THROWS_WITH(datasets.structure("none.mtx.gz"), doctest::Contains("none.mtx.gz: "));
    CHECK_THROWS_WITH(datasets.structure("a/grid"), doctest::Contains("a/grid: "));
    fs::current_path(before);
}

TEST_CASE("a matrix of the collection comes from the cache and must have its published size")
{
    Cache const cache;
    sparse::Datasets datasets{small_catalogue(), cache.folder()};
    auto const folder = cache.folder().string();
    CHECK_THROWS_WITH(
        datasets.structure("fetched"),
        ("matrix \"fetched\" is not in " + folder + ": get it with `just fetch fetched`").c_str());
    auto const path = cache.write("file.mtx", file_text).string();
    CHECK(datasets.structure("fetched").nonzeros() == 3);

    auto const check_refused = [&](std::string const& size_and_entries,
                                   std::string const& problem) {
        sparse::Datasets fresh{small_catalogue(), cache.folder()};
        cache.write("file.mtx",
                    "%%MatrixMarket matrix coordinate pattern general\n" + size_and_entries);
        CHECK_THROWS_WITH(fresh.structure("fetched"),
                          (path + ": found " + problem + " as the catalogue says").c_str());
    };
    check_refused("3 3 1\n1 1\n", "3 rows, expected 2");
    check_refused("2 4 1\n1 1\n", "4 columns, expected 3");
    check_refused("2 3 1\n1 1\n", "1 nonzeros, expected 3");
}

TEST_CASE("the cache is where MEMWALL_CACHE says")
{
    setenv("MEMWALL_CACHE", "/some/where", 1);
    sparse::Datasets elsewhere;
    CHECK_THROWS_WITH(elsewhere.structure("cant"),
                      "matrix \"cant\" is not in /some/where: get it with `just fetch cant`");
    unsetenv("MEMWALL_CACHE");
    sparse::Datasets here;
    auto const before = fs::current_path();
    Cache const cache;
    fs::current_path(cache.folder());
    CHECK_THROWS_WITH(here.structure("cant"),
                      "matrix \"cant\" is not in datasets/cache: get it with `just fetch cant`");
    fs::current_path(before);
}

TEST_CASE("what cannot be had is an error that leaves the rest usable")
{
    sparse::Datasets datasets{small_catalogue(), "nowhere"};
    CHECK_THROWS_WITH(datasets.structure("gird"),
                      "unknown matrix \"gird\"; the nearest names are grid, bad, fetched");
    CHECK_THROWS_WITH(datasets.set("two"), "unknown set \"two\"; the nearest names are one");
    CHECK_THROWS_WITH(datasets.structure("bad"),
                      "matrix \"bad\" of the catalogue: banded: width = 4, expected 0 to 3");
    CHECK(datasets.structure("grid").rows == 4);
}

TEST_CASE("a structure that is not the pinned one is refused")
{
    std::string const zeros(64, '0');
    sparse::Datasets datasets{small_catalogue("grid = \"" + zeros + "\""), "nowhere"};
    auto const digest = sparse::structure_digest(sparse::poisson2d(2));
    CHECK_THROWS_WITH(datasets.description("grid"),
                      ("matrix \"grid\": the structure generated has SHA-256 " + digest +
                       ", expected " + zeros + " as pinned in datasets/structures.lock")
                          .c_str());
    sparse::Datasets right{small_catalogue("grid = \"" + digest + "\""), "nowhere"};
    CHECK(right.description("grid").sha256 == digest);
}

namespace {

/// Generates those matrices of the catalogue whose names are wanted: each has to be the pinned one.
template <class Wanted>
void check_pinned(Wanted const& wanted)
{
    sparse::Datasets datasets;
    for (auto const& [label, entry] : sparse::Catalogue::embedded().matrices()) {
        std::string const name{label};
        if (std::holds_alternative<sparse::Generated>(entry.source) && wanted(name)) {
            CAPTURE(name);
            CHECK_NOTHROW(datasets.description(name));
        }
    }
}

bool is_small(std::string const& name)
{
    return name.ends_with("-tiny") || name.ends_with("-small");
}

} // namespace

TEST_CASE("every small generated matrix of the catalogue is the pinned one")
{
    check_pinned(is_small);
}

TEST_CASE("every large generated matrix of the catalogue is the pinned one")
{
    // The xl sizes take a minute and gigabytes: MEMWALL_TEST_XL=1 asks for them.
    bool const with_xl = std::getenv("MEMWALL_TEST_XL") != nullptr;
    check_pinned([&](std::string const& name) {
        return !is_small(name) && (with_xl || !name.ends_with("-xl"));
    });
}
