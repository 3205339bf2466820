#include "sparse/features.hpp"

#include <doctest/doctest.h>

#include <cmath>

TEST_CASE_TEMPLATE("features of a small structure", I, std::int32_t, std::int64_t)
{
    // Rows: {0, 1, 2, 5}, {}, {3}, {0, 2, 4}
    sparse::Pattern<I> const a{4, 6, {0, 4, 4, 5, 8}, {0, 1, 2, 5, 3, 0, 2, 4}};
    auto const f = sparse::features(a);
    CHECK(f.rows == 4);
    CHECK(f.columns == 6);
    CHECK(f.nonzeros == 8);
    CHECK(f.mean_row == 2.0);
    CHECK(f.max_row == 4);
    CHECK(f.std_row == doctest::Approx(std::sqrt((4.0 + 4.0 + 1.0 + 1.0) / 4.0)));
    CHECK(f.empty_rows == 1);
    CHECK(f.segments == 6);
    CHECK(f.segments_per_nonzero() == 0.75);
}

TEST_CASE("a run does not go on in the next row")
{
    sparse::Pattern<> const a{2, 4, {0, 2, 4}, {0, 1, 2, 3}};
    CHECK(sparse::features(a).segments == 2);
}

TEST_CASE("nothing divides by zero")
{
    for (auto const rows : {0, 3}) {
        sparse::Pattern<> a;
        a.rows = rows;
        a.row_ptr = sparse::Array<std::int32_t>(static_cast<std::size_t>(rows) + 1, 0);
        auto const f = sparse::features(a);
        CHECK(f.empty_rows == rows);
        CHECK(f.mean_row == 0.0);
        CHECK(f.std_row == 0.0);
        CHECK(f.segments_per_nonzero() == 0.0);
    }
}

TEST_CASE("every task of the parallel count is counted once")
{
    constexpr std::int32_t rows = 100003;
    sparse::Pattern<> diagonal{rows, rows, {}, {}};
    for (std::int32_t row = 0; row <= rows; ++row) {
        diagonal.row_ptr.push_back(row);
    }
    for (std::int32_t row = 0; row < rows; ++row) {
        diagonal.col.push_back(row);
    }
    auto const f = sparse::features(diagonal);
    CHECK(f.segments == rows);
    CHECK(f.std_row == 0.0);
}

TEST_CASE("named features come in the order of a table")
{
    sparse::Csr<float> a;
    a.columns = 3;
    auto const names = sparse::named(sparse::features(a));
    REQUIRE(names.size() == 9);
    CHECK(names.front().first == "rows");
    CHECK(names[1] == std::pair<std::string, double>{"cols", 3.0});
    CHECK(names.back().first == "nzseg_per_nnz");
}
