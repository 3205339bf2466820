#include "sparse/io/matrix_market.hpp"

#include "sparse/convert.hpp"
#include "sparse/io/matrix_market_cases.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <locale>
#include <optional>
#include <random>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t chunk_sizes[] = {1, 2, 7, 16, 61, 1 << 20};

sparse::ReadOptions in_chunks(std::size_t bytes)
{
    return {.complex_real_part = true, .chunk_bytes = bytes};
}

/// A folder that vanishes with the test.
class Folder
{
public:
    Folder() : path_{fs::temp_directory_path() / ("matrix-market-test-" + std::to_string(getpid()))}
    {
        fs::create_directory(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;

    fs::path operator/(std::string const& name) const { return path_ / name; }
    auto files() const { return std::distance(fs::directory_iterator{path_}, {}); }

private:
    fs::path path_;
};

std::string gzip(std::string_view text)
{
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK);
    std::string result(deflateBound(&stream, text.size()) + 32, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(result.data());
    stream.avail_out = static_cast<uInt>(result.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    result.resize(stream.total_out);
    deflateEnd(&stream);
    return result;
}

/// Equal to the last bit, where all NaN are one.
template <class T>
bool same_value(T a, T b)
{
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T, class I>
bool same(sparse::Csr<T, I> const& a, sparse::Csr<T, I> const& b)
{
    return a.rows == b.rows && a.columns == b.columns && a.row_ptr == b.row_ptr && a.col == b.col &&
           std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                      same_value<T>);
}

template <class T, class I>
bool same_structure(sparse::Csr<T, I> const& a, sparse::Pattern<I> const& b)
{
    return a.rows == b.rows && a.columns == b.columns && a.row_ptr == b.row_ptr && a.col == b.col;
}

sparse::Csr<double> expected(sparse::cases::Good const& good)
{
    sparse::Coo<double> coo{good.rows, good.columns, {}, {}, {}};
    for (auto const& [row, col, value] : good.nonzeros) {
        coo.row.push_back(row - 1);
        coo.col.push_back(col - 1);
        coo.values.push_back(value);
    }
    return sparse::to_csr(coo);
}

/// The error of reading `bytes`; empty if there is none.
template <class I = std::int32_t>
std::string error_of(std::string_view bytes,
                     sparse::ReadOptions const& options = in_chunks(1 << 20))
{
    try {
        sparse::parse_matrix_market<double, I>(bytes, "x.mtx", options);
    } catch (sparse::MatrixMarketError const& e) {
        return e.what();
    }
    return {};
}

std::string header(std::string const& kind, std::size_t rows, std::size_t columns,
                   std::size_t entries)
{
    std::ostringstream text;
    text << "%%MatrixMarket matrix " << kind << "\n" << rows << " " << columns << " " << entries;
    return text.str();
}

template <class T, class I>
sparse::Csr<T, I> random_matrix(I rows, I columns, std::size_t count, unsigned seed)
{
    std::mt19937_64 random{seed};
    std::uniform_int_distribution<I> row{0, rows - 1};
    std::uniform_int_distribution<I> col{0, columns - 1};
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    sparse::Coo<T, I> coo{rows, columns, {}, {}, {}};
    for (std::size_t k = 0; k < count; ++k) {
        coo.row.push_back(row(random));
        coo.col.push_back(col(random));
        // Any bits at all: subnormals, infinities and NaN among them.
        coo.values.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    }
    return sparse::to_csr(std::move(coo));
}

/// An awkward text: broken entries, comments, blank lines and all line ends at random.
std::string random_text(std::size_t entries, unsigned seed)
{
    std::mt19937_64 random{seed};
    auto const chance = [&](unsigned percent) { return random() % 100 < percent; };
    auto const line_end = [&] { return chance(80) ? "\n" : chance(50) ? "\r\n" : "\r"; };
    std::ostringstream text;
    text << header("coordinate real symmetric", 300, 300, entries) << "\n";
    for (std::size_t k = 0; k < entries; ++k) {
        if (chance(3)) {
            text << (chance(50) ? "% comment" : " \t") << line_end();
        }
        text << 1 + random() % 300 << (chance(1) ? line_end() : " ") << 1 + random() % 300
             << (chance(1) ? line_end() : "\t") << static_cast<double>(random() % 1000) / 8
             << line_end();
    }
    return text.str();
}

} // namespace

TEST_CASE("what is in the wild is read, however it is cut into chunks")
{
    for (auto const& good : sparse::cases::good()) {
        CAPTURE(good.name);
        auto const matrix = expected(good);
        for (auto const bytes : chunk_sizes) {
            CAPTURE(bytes);
            CHECK(same(sparse::parse_matrix_market<double>(good.text, "x", in_chunks(bytes)),
                       matrix));
        }
        auto const structure = sparse::parse_matrix_market_pattern(good.text, "x");
        CHECK(same_structure(matrix, structure));
        auto const zipped = gzip(good.text);
        CHECK(same(sparse::parse_matrix_market<double>(zipped, "x", in_chunks(64)), matrix));
        auto const wide =
            sparse::parse_matrix_market<double, std::int64_t>(good.text, "x", in_chunks(1 << 20));
        CHECK(same(sparse::to_index<std::int32_t>(wide.view()), matrix));
    }
}

TEST_CASE("what is malformed is refused in one line, however it is cut into chunks")
{
    for (auto const& bad : sparse::cases::bad()) {
        CAPTURE(bad.name);
        auto const message = error_of(bad.text);
        CAPTURE(message);
        CHECK(message.starts_with("x.mtx:" + std::to_string(bad.line) + ": found "));
        auto const comma = message.find(", expected ");
        REQUIRE(comma != message.npos);
        CHECK(message.substr(0, comma).find(bad.found) != message.npos);
        CHECK(message.substr(comma).find(bad.expected) != message.npos);
        CHECK(message.find('\n') == message.npos);
        for (auto const bytes : chunk_sizes) {
            CHECK(error_of(bad.text, in_chunks(bytes)) == message);
        }
        CHECK(error_of(gzip(bad.text)) == message);
        CHECK_THROWS_AS(sparse::parse_matrix_market_pattern(bad.text, "x"),
                        sparse::MatrixMarketError);
    }
}

TEST_CASE("values are read as the type asked for")
{
    std::string const text =
        header("coordinate real general", 1, 3, 3) + "\n1 1 0.1\n1 2 1e-46\n1 3 3.4028235e38\n";
    auto const a = sparse::parse_matrix_market<float>(text, "x");
    CHECK(a.values == sparse::Array<float>{0.1F, 0.0F, 3.4028235e38F});
    CHECK_THROWS_WITH_AS(
        sparse::parse_matrix_market<float>(
            "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e39\n", "x"),
        "x:3: found '1e39', expected a number within the range of float",
        sparse::MatrixMarketError);
}

TEST_CASE("a complex matrix has no real values unless they are asked for")
{
    std::string const text = header("coordinate complex general", 2, 2, 1) + "\n2 1 3 4\n";
    CHECK_THROWS_WITH_AS(
        sparse::parse_matrix_market<double>(text, "x"),
        "x:1: found a complex matrix, expected a real, integer or pattern one, since the real part "
        "was not asked for",
        sparse::MatrixMarketError);
    CHECK(sparse::parse_matrix_market_pattern(text, "x").nonzeros() == 1);
}

TEST_CASE("64-bit indices reach further")
{
    auto const text = header("coordinate real general", 1, 3000000000, 1) + "\n1 3000000000 5\n";
    auto const a = sparse::parse_matrix_market<double, std::int64_t>(text, "x");
    CHECK(a.columns == 3000000000);
    CHECK(a.col == sparse::Array<std::int64_t>{2999999999});
    CHECK(error_of(text).find("at most 2147483647 with 32-bit indices") != std::string::npos);
}

TEST_CASE("a header alone asks for little memory")
{
    auto const text = header("coordinate real general", 20000000, 20000000, 1) + "\n1 1 5\n";
    CHECK(error_of<std::int64_t>(text).find("at most 16777216 rows more than entries") !=
          std::string::npos);
    CHECK(sparse::parse_matrix_market<float>(text, "x", {.max_empty_rows = 20000000}).rows ==
          20000000);
    auto const lie =
        header("coordinate real general", 400000000, 400000000, 390000000) + "\n1 1 5\n";
    CHECK(error_of(lie).find("after 1 entries, expected 390000000") != std::string::npos);
}

TEST_CASE("the number of threads and the cut into chunks change nothing")
{
    auto const threads = omp_get_max_threads();
    for (unsigned seed = 1; seed < 4; ++seed) {
        auto const text = random_text(20000, seed);
        omp_set_num_threads(1);
        auto const serial = sparse::parse_matrix_market<double>(text, "x", in_chunks(text.size()));
        for (auto const count : {1, 2, 5}) {
            omp_set_num_threads(count);
            for (auto const bytes : {std::size_t{100}, std::size_t{5000}}) {
                CHECK(
                    same(serial, sparse::parse_matrix_market<double>(text, "x", in_chunks(bytes))));
            }
        }
    }
    omp_set_num_threads(threads);
}

TEST_CASE("errors deep in a file name the right line")
{
    std::string text = header("coordinate real general", 10, 10, 90);
    for (int line = 3; line < 93; ++line) {
        text += line % 3 == 0 ? "\r\n1 2 3" : line % 3 == 1 ? "\r1 2 3" : "\n1 2 3";
    }
    REQUIRE(error_of(text).empty());
    for (std::size_t line = 92, at = text.rfind('3'); line >= 3; --line) {
        auto broken = text;
        broken[at] = 'x';
        for (auto const bytes : chunk_sizes) {
            CHECK(error_of(broken, in_chunks(bytes))
                      .starts_with("x.mtx:" + std::to_string(line) +
                                   ": found 'x', expected a number"));
        }
        at = text.rfind('3', at - 1);
    }
}

TEST_CASE("gzip data of many blocks is one text")
{
    // Each entry on two lines, so that some are broken at the end of a block.
    constexpr std::size_t entries = 500000;
    auto text = header("coordinate pattern general", 1000, 1000, entries);
    for (std::size_t k = 0; k < entries; ++k) {
        text += "\r\n" + std::to_string(1 + k % 1000) + "\r\n" + std::to_string(1 + k / 500);
    }
    auto const plain = sparse::parse_matrix_market_pattern(text, "x");
    REQUIRE(plain.nonzeros() == entries);
    auto const half = text.size() / 2;
    auto const members = gzip(text.substr(0, half)) + gzip("") + gzip(text.substr(half));
    CHECK(sparse::parse_matrix_market_pattern(members, "x").col == plain.col);

    auto const broken = gzip(text + "\r\n1\r\n1\r\n");
    CHECK(error_of(broken).starts_with("x.mtx:1000003: found entry 500001: '1'"));
}

TEST_CASE("damaged gzip data is refused")
{
    std::string text = header("coordinate real general", 99, 99, 99) + "\n";
    for (int k = 1; k < 100; ++k) {
        text += std::to_string(k) + " " + std::to_string(100 - k) + " 1.5\n";
    }
    auto const whole = gzip(text);
    REQUIRE(error_of(whole).empty());
    for (std::size_t size = 2; size < whole.size(); size += 5) {
        CHECK(error_of(whole.substr(0, size)).find("gzip data that ends too early") !=
              std::string::npos);
    }
    auto wrong_sum = whole;
    wrong_sum[whole.size() - 5] ^= 1;
    CHECK(error_of(wrong_sum).find("damaged gzip data (incorrect data check)") !=
          std::string::npos);
    CHECK(error_of(whole + "junk").find("damaged gzip data") != std::string::npos);

    CHECK(error_of(whole + std::string(512, '\0')).empty());

    auto const long_line = gzip(text + "%" + std::string(5 << 20, 'x') + "\n");
    CHECK(error_of(long_line).starts_with("x.mtx:102: found a line of 4194304 bytes or more"));
    CHECK(error_of(text + "%" + std::string(5 << 20, 'x') + "\n").empty());
}

TEST_CASE_TEMPLATE("what is written reads back the same", T, float, double)
{
    struct Shape
    {
        std::int64_t rows;
        std::int64_t columns;
        std::size_t count;
    };
    Folder const folder;
    unsigned seed = 5;
    for (auto const& [rows, columns, count] :
         {Shape{1, 1, 0}, {1, 1, 1}, {1, 300, 70}, {300, 1, 70}, {40, 7, 0}, {211, 97, 30000}}) {
        auto const a = random_matrix<T>(rows, columns, count, seed++);
        std::ostringstream text;
        sparse::write_matrix_market(text, a.view());
        CHECK(same(sparse::parse_matrix_market<T, std::int64_t>(text.str(), "x"), a));

        for (auto const* name : {"a.mtx", "a.mtx.gz"}) {
            sparse::write_matrix_market(folder / name, a.view());
            CHECK(same(sparse::read_matrix_market<T, std::int64_t>(folder / name), a));
        }
        sparse::PatternView<std::int64_t> const structure{a};
        sparse::write_matrix_market(folder / "a.mtx", structure);
        CHECK(
            same_structure(a, sparse::read_matrix_market_pattern<std::int64_t>(folder / "a.mtx")));
        auto const header = sparse::read_matrix_market_header(folder / "a.mtx");
        CHECK(header.kind() == "coordinate pattern general");
        CHECK(header.rows == rows);
        CHECK(header.columns == columns);
        CHECK(header.entries == static_cast<std::int64_t>(a.nonzeros()));
        CHECK(folder.files() == 2);
    }
}

TEST_CASE("a file that cannot be written leaves what was there")
{
    Folder const folder;
    auto const a = random_matrix<double, std::int32_t>(5, 5, 9, 1);
    fs::create_directories(folder / "taken.mtx/inside");
    CHECK_THROWS_AS(sparse::write_matrix_market(folder / "taken.mtx", a.view()),
                    sparse::MatrixMarketError);
    CHECK(fs::exists(folder / "taken.mtx/inside"));
    CHECK_THROWS_AS(sparse::write_matrix_market(folder / "missing/a.mtx", a.view()),
                    sparse::MatrixMarketError);
    CHECK(folder.files() == 1);
}

TEST_CASE("numbers are read and written alike under any locale")
{
    struct Comma : std::numpunct<char> // as in much of Europe
    {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    auto const text = header("coordinate real general", 2000, 2000, 2) + "\n1000 2000 1234.5\n" +
                      "2000 1500 -0.25\n";
    auto const before = std::locale::global(std::locale{std::locale::classic(), new Comma});
    auto const a = sparse::parse_matrix_market<double>(text, "a.mtx");
    std::ostringstream written;
    sparse::write_matrix_market(written, a.view());
    std::string said;
    try {
        sparse::parse_matrix_market<double>(
            "%%MatrixMarket matrix array real general\n2000 1\n1,5\n", "b.mtx");
    } catch (sparse::MatrixMarketError const& error) {
        said = error.what();
    }
    std::locale::global(before);
    CHECK(a.values[0] == 1234.5);
    CHECK(written.str() == text);
    CHECK(said == "b.mtx:3: found '1,5', expected a number within the range of double");
}

TEST_CASE("a name must not lie about gzip")
{
    Folder const folder;
    std::string const text = header("coordinate real general", 1, 1, 1) + "\n1 1 5\n";
    std::ofstream{folder / "plain.mtx.gz"} << text;
    std::ofstream{folder / "zipped.mtx"} << gzip(text);
    std::ofstream{folder / "zipped.mtx.gz"} << gzip(text);
    CHECK(sparse::read_matrix_market<double>(folder / "zipped.mtx.gz").values[0] == 5);
    auto const refuses = [](fs::path const& file, std::string const& message) {
        CHECK_THROWS_WITH_AS(sparse::read_matrix_market<double>(file),
                             (file.string() + message).c_str(), sparse::MatrixMarketError);
    };
    refuses(folder / "plain.mtx.gz",
            ":1: found no gzip data, expected gzip data, since the name ends in .gz");
    refuses(folder / "zipped.mtx",
            ":1: found gzip data, expected text, since the name does not end in .gz");
    refuses(folder / "nowhere.mtx", ": cannot be opened: No such file or directory");
    refuses(folder / "", ": is not a regular file");
}
