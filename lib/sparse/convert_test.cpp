#include "sparse/convert.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace {

template <class T, class I>
void push(sparse::Coo<T, I>& coo, I row, I col, T value)
{
    coo.row.push_back(row);
    coo.col.push_back(col);
    coo.values.push_back(value);
}

/// Row and column of an entry.
template <class I>
using Position = std::pair<I, I>;

/// Sums in order of appearance, as `to_csr` promises.
template <class T, class I>
std::map<Position<I>, T> sums(sparse::Coo<T, I> const& coo)
{
    std::map<Position<I>, T> result;
    for (std::size_t p = 0; p < coo.nonzeros(); ++p) {
        auto const [place, is_new] = result.try_emplace({coo.row[p], coo.col[p]}, coo.values[p]);
        if (!is_new) {
            place->second += coo.values[p];
        }
    }
    return result;
}

template <class T, class I>
void check_equal(sparse::Csr<T, I> const& a, std::map<Position<I>, T> const& expected)
{
    REQUIRE(a.row_ptr.size() == static_cast<std::size_t>(a.rows) + 1);
    REQUIRE(a.row_ptr.front() == 0);
    REQUIRE(static_cast<std::size_t>(a.row_ptr.back()) == expected.size());
    REQUIRE(a.col.size() == expected.size());
    REQUIRE(a.values.size() == expected.size());
    auto next = expected.begin();
    auto equal = true;
    for (I row = 0; row < a.rows; ++row) {
        for (auto p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p, ++next) {
            equal =
                equal && next->first == Position<I>{row, a.col[p]} && next->second == a.values[p];
        }
    }
    CHECK(equal);
}

/// Where random entries go: evenly, or mostly into few rows.
enum class Spread
{
    even,
    skewed
};

template <class T, class I>
sparse::Coo<T, I> random_coo(I rows, I columns, std::size_t count, Spread spread, unsigned seed)
{
    std::mt19937_64 random{seed};
    std::uniform_real_distribution<T> value{-1, 1};
    std::uniform_int_distribution<I> row{0, rows - 1};
    std::uniform_int_distribution<I> col{0, columns - 1};
    sparse::Coo<T, I> coo{rows, columns, {}, {}, {}};
    for (std::size_t k = 0; k < count; ++k) {
        auto const r = spread == Spread::even || k % 8 == 0 ? row(random) : rows / 2;
        push(coo, r, col(random), value(random));
    }
    return coo;
}

} // namespace

TEST_CASE_TEMPLATE("to_csr sorts, sums and keeps zeros", T, float, double)
{
    sparse::Coo<T> coo{4, 5, {}, {}, {}};
    push<T>(coo, 3, 0, 1);
    push<T>(coo, 1, 4, 2);
    push<T>(coo, 1, 1, 3);
    push<T>(coo, 1, 4, -2);
    push<T>(coo, 0, 2, 0);
    auto const a = sparse::to_csr(coo);
    CHECK(a.rows == 4);
    CHECK(a.columns == 5);
    CHECK(a.row_ptr == sparse::Array<std::int32_t>{0, 1, 3, 3, 4});
    CHECK(a.col == sparse::Array<std::int32_t>{2, 1, 4, 0});
    CHECK(a.values == sparse::Array<T>{0, 3, 0, 1});
}

TEST_CASE("duplicates are summed in order of appearance")
{
    sparse::Coo<double> coo{1, 2, {}, {}, {}};
    for (auto const value : {1.0, 1e100, -1e100, 1.0}) {
        push(coo, 0, 1, value);
        push(coo, 0, 0, 0.5);
    }
    auto const a = sparse::to_csr(coo);
    CHECK(a.values == sparse::Array<double>{2.0, ((1.0 + 1e100) - 1e100) + 1.0});
}

TEST_CASE("matrices without entries, rows or columns")
{
    for (auto const& [rows, columns] : {std::pair{0, 0}, {0, 7}, {7, 0}, {3, 4}}) {
        auto const a = sparse::to_csr(sparse::Coo<double>{rows, columns, {}, {}, {}});
        CHECK(a.rows == rows);
        CHECK(a.columns == columns);
        CHECK(a.row_ptr == sparse::Array<std::int32_t>(static_cast<std::size_t>(rows) + 1, 0));
        CHECK(a.nonzeros() == 0);
    }
}

TEST_CASE_TEMPLATE("random matrices of awkward shapes equal a map", I, std::int32_t, std::int64_t)
{
    struct Shape
    {
        I rows;
        I columns;
        std::size_t count;
    };
    unsigned seed = 1;
    for (auto const& [rows, columns, count] : {Shape{1, 1, 5},
                                               {1, 1000, 3000},
                                               {1000, 1, 700},
                                               {17, 33, 100},
                                               {50001, 3, 2000},
                                               {4099, 257, 100003},
                                               {3, 70001, 70001}}) {
        for (auto const spread : {Spread::even, Spread::skewed}) {
            auto coo = random_coo<float, I>(rows, columns, count, spread, seed++);
            auto const expected = sums(coo);
            check_equal(sparse::to_csr(coo), expected);
            check_equal(sparse::to_csr(std::move(coo)), expected);
        }
    }
}

TEST_CASE("without duplicates a large matrix keeps all its entries")
{
    constexpr std::int32_t rows = 70003;
    sparse::Coo<double> coo{rows, rows, {}, {}, {}};
    for (std::int32_t column = 0; column < rows; ++column) {
        for (auto row = std::max(0, column - 1); row <= std::min(rows - 1, column + 1); ++row) {
            push(coo, row, column, 1.0 + row - column);
        }
    }
    auto const a = sparse::to_csr(coo);
    CHECK(a.nonzeros() == coo.nonzeros());
    check_equal(a, sums(coo));
}

TEST_CASE("what is no matrix is refused")
{
    for (auto const& [row, col] : {std::pair{2, 0}, {0, 3}, {-1, 0}, {0, -1}}) {
        sparse::Coo<double> coo{2, 3, {}, {}, {}};
        push(coo, 0, 0, 1.0);
        push(coo, row, col, 1.0);
        CHECK_THROWS_AS(sparse::to_csr(coo), std::invalid_argument);
    }
    sparse::Coo<double> lopsided{2, 3, {}, {}, {}};
    lopsided.col.push_back(0);
    CHECK_THROWS_AS(sparse::to_csr(lopsided), std::invalid_argument);
}

TEST_CASE("the index type can be changed where everything fits")
{
    auto const a = sparse::to_csr(random_coo<double, std::int32_t>(50, 60, 400, Spread::even, 9));
    auto const wide = sparse::to_index<std::int64_t>(a.view());
    auto const back = sparse::to_index<std::int32_t>(wide.view());
    CHECK(std::equal(a.col.begin(), a.col.end(), wide.col.begin(), wide.col.end()));
    CHECK(back.row_ptr == a.row_ptr);
    CHECK(back.col == a.col);
    CHECK(back.values == a.values);
    CHECK(back.rows == 50);
    CHECK(back.columns == 60);

    sparse::Csr<double, std::int64_t> broad;
    broad.columns = std::int64_t{1} << 31;
    CHECK_THROWS_AS(sparse::to_index<std::int32_t>(broad.view()), std::length_error);
    broad.columns -= 1;
    CHECK(sparse::to_index<std::int32_t>(broad.view()).columns == 2147483647);
}
