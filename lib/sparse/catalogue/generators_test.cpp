#include "sparse/catalogue/generators.hpp"

#include "sparse/features.hpp"

#include <doctest/doctest.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using sparse::Pattern;

template <class I>
std::vector<I> row(Pattern<I> const& a, I i)
{
    return {a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1]};
}

template <class I>
void check_sound(Pattern<I> const& a)
{
    REQUIRE(a.row_ptr.size() == static_cast<std::size_t>(a.rows) + 1);
    CHECK(a.row_ptr.front() == 0);
    CHECK(static_cast<std::size_t>(a.row_ptr.back()) == a.nonzeros());
    REQUIRE(std::is_sorted(a.row_ptr.begin(), a.row_ptr.end()));
    bool sound = true;
    for (I i = 0; i < a.rows; ++i) {
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            sound &= a.col[p] >= 0 && a.col[p] < a.columns;
            sound &= p == a.row_ptr[i] || a.col[p - 1] < a.col[p];
        }
    }
    CHECK(sound);
}

template <class I>
bool same(Pattern<I> const& a, Pattern<I> const& b)
{
    return a.rows == b.rows && a.columns == b.columns && a.row_ptr == b.row_ptr && a.col == b.col;
}

Pattern<> transposed(Pattern<> const& a)
{
    std::vector<std::vector<int>> rows(static_cast<std::size_t>(a.columns));
    for (int i = 0; i < a.rows; ++i) {
        for (int const j : row(a, i)) {
            rows[static_cast<std::size_t>(j)].push_back(i);
        }
    }
    Pattern<> t;
    t.rows = a.columns;
    t.columns = a.rows;
    for (auto const& columns : rows) {
        t.col.insert(t.col.end(), columns.begin(), columns.end());
        t.row_ptr.push_back(static_cast<int>(t.col.size()));
    }
    return t;
}

/// Every generator at a small size, with `I` left open.
template <class I>
std::map<std::string, std::function<Pattern<I>()>> small()
{
    return {
        {"poisson2d", [] { return sparse::poisson2d<I>(37); }},
        {"stencil27", [] { return sparse::stencil27<I>(11); }},
        {"fem3", [] { return sparse::fem3<I>(7); }},
        {"fem3_shuffled", [] { return sparse::fem3_shuffled<I>(7, 50, 1); }},
        {"banded", [] { return sparse::banded<I>(700, 33); }},
        {"random_rows", [] { return sparse::random_rows<I>(3001, 1999, 7, 1); }},
        {"rmat", [] { return sparse::rmat<I>(11, 150000, 1); }},
        {"dense_rows", [] { return sparse::dense_rows<I>(2503, 3, 5, 40, 1); }},
        {"short_rows", [] { return sparse::short_rows<I>(4999, 20, 1); }},
        {"local_rows", [] { return sparse::local_rows<I>(4720, 20042, 80, 1); }},
        {"runs", [] { return sparse::runs<I>(1999, 48, 7, 300, 1); }},
        {"dense", [] { return sparse::dense<I>(31, 47); }},
        {"empty", [] { return sparse::empty<I>(31, 47); }},
        {"ragged", [] { return sparse::ragged<I>(2999, 53, 53, 1); }},
    };
}

class Threads
{
public:
    explicit Threads([[maybe_unused]] int count)
    {
#ifdef _OPENMP
        omp_set_num_threads(count);
#endif
    }
    ~Threads()
    {
#ifdef _OPENMP
        omp_set_num_threads(before_);
#endif
    }
    Threads(Threads const&) = delete;
    Threads& operator=(Threads const&) = delete;

private:
#ifdef _OPENMP
    int before_ = omp_get_max_threads();
#endif
};

} // namespace

TEST_CASE("columns are in range, sorted and unique")
{
    for (auto const& [label, make] : small<std::int32_t>()) {
        std::string const name{label};
        CAPTURE(name);
        check_sound(make());
    }
}

TEST_CASE("threads and repetition change nothing")
{
    for (auto const& [label, make] : small<std::int32_t>()) {
        std::string const name{label};
        CAPTURE(name);
        auto const once = make();
        CHECK(same(once, make()));
        for (int const count : {1, 2, 5}) {
            Threads const threads{count};
            CHECK(same(once, make()));
        }
    }
}

TEST_CASE("64-bit indices give the same structure")
{
    auto const wide = small<std::int64_t>();
    for (auto const& [label, make] : small<std::int32_t>()) {
        std::string const name{label};
        CAPTURE(name);
        auto const a = make();
        auto const b = wide.at(name)();
        CHECK(a.rows == b.rows);
        CHECK(a.columns == b.columns);
        CHECK(std::equal(a.row_ptr.begin(), a.row_ptr.end(), b.row_ptr.begin(), b.row_ptr.end()));
        CHECK(std::equal(a.col.begin(), a.col.end(), b.col.begin(), b.col.end()));
    }
}

TEST_CASE("seeds matter")
{
    CHECK(!same(sparse::random_rows(100, 100, 5, 1), sparse::random_rows(100, 100, 5, 2)));
    CHECK(!same(sparse::rmat(7, 500, 1), sparse::rmat(7, 500, 2)));
    CHECK(!same(sparse::short_rows(100, 20, 1), sparse::short_rows(100, 20, 2)));
    CHECK(!same(sparse::fem3_shuffled(4, 64, 1), sparse::fem3_shuffled(4, 64, 2)));
}

TEST_CASE("grids are symmetric and have the stencil's size")
{
    for (int const n : {1, 2, 3, 10}) {
        CAPTURE(n);
        auto const flat = sparse::poisson2d(n);
        CHECK(flat.nonzeros() == static_cast<std::size_t>(5 * n * n - 4 * n));
        CHECK(same(flat, transposed(flat)));
        check_sound(flat);
        auto const cube = sparse::stencil27(n);
        auto const pairs = static_cast<std::size_t>(3 * n - 2); // neighbours on one axis
        CHECK(cube.nonzeros() == pairs * pairs * pairs);
        CHECK(same(cube, transposed(cube)));
        check_sound(cube);
    }
    CHECK(row(sparse::poisson2d(3), 4) == std::vector{1, 3, 4, 5, 7});
    CHECK(row(sparse::poisson2d(3), 2) == std::vector{1, 2, 5});
    CHECK(row(sparse::stencil27(3), 0) == std::vector{0, 1, 3, 4, 9, 10, 12, 13});
    CHECK(row(sparse::stencil27(3), 13).size() == 27);
}

TEST_CASE("fem3 is made of 3x3 blocks on the stencil's nodes")
{
    auto const nodes = sparse::stencil27(4);
    auto const a = sparse::fem3(4);
    CHECK(a.rows == 3 * nodes.rows);
    CHECK(a.nonzeros() == 9 * nodes.nonzeros());
    CHECK(same(a, transposed(a)));
    for (int i = 0; i < a.rows; ++i) {
        std::vector<int> expected;
        for (int const j : row(nodes, i / 3)) {
            expected.insert(expected.end(), {3 * j, 3 * j + 1, 3 * j + 2});
        }
        CHECK(row(a, i) == expected);
    }
}

TEST_CASE("shuffled nodes stay in their window and keep their neighbours")
{
    auto const plain = sparse::fem3(6);
    CHECK(same(plain, sparse::fem3_shuffled(6, 1, 1)));
    auto const shuffled = sparse::fem3_shuffled(6, 72, 1);
    CHECK(!same(plain, shuffled));
    CHECK(same(shuffled, transposed(shuffled)));
    CHECK(shuffled.nonzeros() == plain.nonzeros());
    // What a window of nodes holds is the same before and after, and so are the links between
    // windows.
    for (int window = 0; window < 3; ++window) {
        auto const histogram = [window](Pattern<> const& a) {
            std::map<std::pair<std::size_t, int>, int> counts;
            for (int i = window * 216; i < (window + 1) * 216; ++i) {
                for (int const j : row(a, i)) {
                    ++counts[{row(a, i).size(), j / 216}];
                }
            }
            return counts;
        };
        CHECK(histogram(shuffled) == histogram(plain));
    }
    for (int i = 0; i < shuffled.rows; ++i) {
        auto const columns = row(shuffled, i);
        CHECK(columns == row(shuffled, i - i % 3));
        for (std::size_t k = 0; k < columns.size(); ++k) {
            CHECK(columns[k] % 3 == static_cast<int>(k % 3));
        }
    }
}

TEST_CASE("a band is one run about the diagonal")
{
    auto const a = sparse::banded(100, 10);
    CHECK(sparse::features(a).segments == 100);
    CHECK(a.nonzeros() == 1000);
    CHECK(row(a, 0).front() == 0);
    CHECK(row(a, 50).front() == 45);
    CHECK(row(a, 99).back() == 99);
    CHECK(same(sparse::banded(7, 7), sparse::dense(7, 7)));
    CHECK(sparse::banded(7, 0).nonzeros() == 0);
    CHECK(sparse::banded(0, 0).rows == 0);
}

TEST_CASE("random rows are all as long as asked and reach everywhere")
{
    auto const a = sparse::random_rows(20000, 10, 3, 1);
    auto const f = sparse::features(a);
    CHECK(f.nonzeros == 60000);
    CHECK(f.max_row == 3);
    std::vector<int> hits(10);
    for (int const j : a.col) {
        ++hits[static_cast<std::size_t>(j)];
    }
    CHECK(*std::min_element(hits.begin(), hits.end()) > 5500);
    CHECK(*std::max_element(hits.begin(), hits.end()) < 6500);
    CHECK(same(sparse::random_rows(5, 8, 8, 1), sparse::dense(5, 8)));
}

TEST_CASE("R-MAT puts its edges where its probabilities say")
{
    auto const a = sparse::rmat(16, 20000, 1);
    CHECK(a.rows == 65536);
    CHECK(a.nonzeros() < 20000);
    CHECK(a.nonzeros() > 19000);
    auto const edges = static_cast<double>(a.nonzeros());
    CHECK(a.row_ptr[32768] / edges == doctest::Approx(0.76).epsilon(0.02));
    auto const left = std::count_if(a.col.begin(), a.col.end(), [](int j) { return j < 32768; });
    CHECK(static_cast<double>(left) / edges == doctest::Approx(0.76).epsilon(0.02));
    auto const corner = std::count_if(a.col.begin(), a.col.begin() + a.row_ptr[32768],
                                      [](int j) { return j < 32768; });
    CHECK(static_cast<double>(corner) / edges == doctest::Approx(0.57).epsilon(0.03));
    CHECK(sparse::rmat(0, 9, 1).nonzeros() == 1);
    CHECK(sparse::rmat(3, 0, 1).nonzeros() == 0);
}

TEST_CASE("dense rows are as many as asked, the others local")
{
    for (int const full : {0, 1, 4, 333, 500}) {
        CAPTURE(full);
        auto const a = sparse::dense_rows(500, full, 6, 30, 1);
        int found = 0;
        for (int i = 0; i < a.rows; ++i) {
            auto const columns = row(a, i);
            if (columns.size() == 500) {
                ++found;
                continue;
            }
            CHECK(columns.size() == 6);
            CHECK(columns.front() >= i - 30);
            CHECK(columns.back() <= i + 30);
        }
        CHECK(found == full);
    }
}

TEST_CASE("short rows have the diagonal and two entries on average")
{
    auto const a = sparse::short_rows(30000, 20, 1);
    auto const f = sparse::features(a);
    CHECK(f.mean_row == doctest::Approx(2.0).epsilon(0.01));
    CHECK(f.max_row == 3);
    CHECK(f.empty_rows == 0);
    int far = 0;
    for (int i = 0; i < a.rows; ++i) {
        auto const columns = row(a, i);
        CHECK(std::find(columns.begin(), columns.end(), i) != columns.end());
        far += columns.front() < i - 20 || columns.back() > i + 20;
    }
    CHECK(far > 2500); // of 30000 entries off the diagonal, a tenth, some of them in one row
    CHECK(far < 3500);
    for (int const rows : {0, 1, 2, 3}) {
        check_sound(sparse::short_rows(rows, 0, 1));
        CHECK(sparse::short_rows(rows, 0, 1).rows == rows);
    }
}

TEST_CASE("local rows share out exactly what they are given")
{
    auto const a = sparse::local_rows(4720, 20042, 80, 1);
    auto const f = sparse::features(a);
    CHECK(f.nonzeros == 20042);
    CHECK(f.max_row == 5);
    for (int i = 0; i < a.rows; ++i) {
        auto const columns = row(a, i);
        CHECK(columns.size() >= 4);
        CHECK(columns.front() >= i - 80);
        CHECK(columns.back() <= i + 80);
    }
    CHECK(sparse::local_rows(0, 0, 3, 1).rows == 0);
    CHECK(same(sparse::local_rows(5, 25, 100, 1), sparse::dense(5, 5)));
}

TEST_CASE("runs per nonzero are exactly as asked, at the same number of nonzeros")
{
    for (int segments = 1; segments <= 48; ++segments) {
        CAPTURE(segments);
        auto const a = sparse::runs(300, 48, segments, 120, 1);
        check_sound(a);
        auto const f = sparse::features(a);
        CHECK(f.nonzeros == 300 * 48);
        CHECK(f.segments == 300 * segments);
        for (int i = 0; i < a.rows; ++i) {
            auto const columns = row(a, i);
            auto const begin = std::clamp(i - 60, 0, 180);
            CHECK(columns.front() >= begin);
            CHECK(columns.back() < begin + 120);
        }
    }
    auto const tight = sparse::runs(95, 48, 48, 95, 1);
    CHECK(row(tight, 50)[1] == 2);
}

TEST_CASE("odd shapes")
{
    CHECK(row(sparse::dense(1, 3), 0) == std::vector{0, 1, 2});
    CHECK(sparse::dense(3, 1).col == sparse::Array<int>{0, 0, 0});
    CHECK(sparse::dense(0, 3).columns == 3);
    CHECK(sparse::dense(3, 0).nonzeros() == 0);
    CHECK(sparse::empty(0, 0).row_ptr.size() == 1);
    CHECK(sparse::empty(3, 5).row_ptr == sparse::Array<int>{0, 0, 0, 0});
    auto const f = sparse::features(sparse::ragged(4000, 30, 30, 1));
    CHECK(f.empty_rows > 60);
    CHECK(f.max_row == 30);
    CHECK(f.mean_row == doctest::Approx(15.0).epsilon(0.03));
}

TEST_CASE("what indices cannot hold is an error, never wrapped")
{
    CHECK_THROWS_WITH(sparse::poisson2d(50000),
                      "poisson2d: rows = 2500000000, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::dense_rows(46341, 46340, 46341, 46341, 1),
                      "dense_rows: nonzeros = 2147488281, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::stencil27(2000),
                      "stencil27: rows = 8000000000, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::stencil27(std::int64_t{1} << 40),
                      "stencil27: n = 1099511627776, expected 1 to 2147483647");
    CHECK_THROWS_WITH(sparse::fem3(1000), "fem3: rows = 3000000000, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::banded(1 << 30, 64),
                      "banded: nonzeros = 68719476736, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::random_rows(std::int64_t{1} << 31, 5, 1, 1),
                      "random_rows: rows = 2147483648, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::dense(1 << 16, 1 << 16),
                      "dense: nonzeros = 4294967296, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::runs(100000000, 48, 1, 100, 1),
                      "runs: nonzeros = 4800000000, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::rmat(31, 1, 1), "rmat: scale = 31, expected 0 to 30");
    CHECK_THROWS_WITH(sparse::dense<std::int64_t>(std::int64_t{1} << 40, std::int64_t{1} << 40),
                      "dense: nonzeros = 9223372036854775807, expected 0 to 9223372036854775806");
}

TEST_CASE("arguments that make no sense are errors")
{
    CHECK_THROWS_WITH(sparse::poisson2d(0), "poisson2d: n = 0, expected 1 to 2147483647");
    CHECK_THROWS_WITH(sparse::banded(5, 6), "banded: width = 6, expected 0 to 5");
    CHECK_THROWS_WITH(sparse::banded(-1, 0), "banded: rows = -1, expected 0 to 2147483647");
    CHECK_THROWS_WITH(sparse::random_rows(5, 5, 6, 1), "random_rows: per_row = 6, expected 0 to 5");
    CHECK_THROWS_WITH(sparse::dense_rows(10, 11, 1, 1, 1),
                      "dense_rows: full = 11, expected 0 to 10");
    CHECK_THROWS_WITH(sparse::dense_rows(10, 1, 4, 2, 1),
                      "dense_rows: per_row = 4, expected 0 to 3");
    CHECK_THROWS_WITH(sparse::local_rows(10, 31, 2, 1),
                      "local_rows: nonzeros = 31, expected 0 to 30");
    CHECK_THROWS_WITH(sparse::runs(100, 10, 11, 50, 1), "runs: segments = 11, expected 1 to 10");
    CHECK_THROWS_WITH(sparse::runs(100, 10, 5, 13, 1), "runs: window = 13, expected 14 to 100");
    CHECK_THROWS_WITH(sparse::ragged(3, 3, 4, 1), "ragged: longest = 4, expected 0 to 3");
    CHECK_THROWS_WITH(sparse::fem3_shuffled(3, 0, 1),
                      "fem3_shuffled: window = 0, expected 1 to 2147483647");
}

TEST_CASE("rows that are made alone are those of the whole matrix")
{
    using sparse::RowRange;
    std::function<Pattern<std::int64_t>(RowRange)> const makers[] = {
        [](RowRange rows) { return sparse::poisson2d<std::int64_t>(9, rows); },
        [](RowRange rows) { return sparse::stencil27<std::int64_t>(5, rows); },
        [](RowRange rows) { return sparse::banded<std::int64_t>(90, 7, rows); },
        [](RowRange rows) { return sparse::random_rows<std::int64_t>(90, 70, 6, 1, rows); },
        [](RowRange rows) { return sparse::dense_rows<std::int64_t>(90, 3, 5, 20, 1, rows); },
        [](RowRange rows) { return sparse::short_rows<std::int64_t>(90, 20, 1, rows); },
        [](RowRange rows) { return sparse::local_rows<std::int64_t>(90, 501, 20, 1, rows); },
        [](RowRange rows) { return sparse::runs<std::int64_t>(90, 8, 2, 30, 1, rows); },
        [](RowRange rows) { return sparse::dense<std::int64_t>(90, 4, rows); },
        [](RowRange rows) { return sparse::ragged<std::int64_t>(90, 70, 9, 1, rows); },
    };
    for (auto const& make : makers) {
        CAPTURE(&make - makers);
        auto const whole = make({});
        for (std::int64_t begin = 0; begin < whole.rows; begin += 40) {
            auto const end = std::min<std::int64_t>(begin + 40, whole.rows);
            auto const part = make({begin, end});
            CHECK(part.columns == whole.columns);
            REQUIRE(part.rows == end - begin);
            for (std::int64_t i = begin; i < end; ++i) {
                CHECK(row(part, i - begin) == row(whole, i));
            }
        }
    }
}
