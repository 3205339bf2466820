#pragma once

#include "spmv/steps/kernel.hpp"
#include "spmv/steps/reference.hpp"

#include "sparse/catalogue/generators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Matrices of awkward shapes and values, and the check that every multiply of the project and of
/// its peers has to pass on them. For tests only.

namespace spmv::testing {

/// The source of all random numbers of the tests.
using Generator = std::mt19937_64;

/// A multiply of some matrix: reads `columns` elements, writes `rows`.
template <class T>
using Multiply = std::function<void(std::span<T const> x, std::span<T> y)>;

/// A structure to test with; its values are made by `Values`.
struct Shape
{
    std::string name;                      ///< shown where a check fails
    std::int32_t columns;                  ///< may be 0
    std::vector<std::int32_t> row_lengths; ///< nonzeros of each row
};

/// Shapes on which loops go wrong: empty, single, rectangular, and rows of any length.
inline std::vector<Shape> awkward_shapes()
{
    Generator random{7};
    std::vector<std::int32_t> lengths(41);
    std::iota(lengths.begin(), lengths.end(), 0);
    auto shuffled = lengths;
    std::ranges::shuffle(shuffled, random);
    std::vector<std::int32_t> sparse_rows(997);
    std::ranges::generate(sparse_rows, [&] { return random() % 3 ? 0 : random() % 12; });
    std::vector<std::int32_t> skewed(300, 2);
    skewed[150] = 66'003; // 16 bits count neither its entries nor its columns
    return {
        {"no rows, no columns", 0, {}},
        {"no rows", 5, {}},
        {"no columns", 0, {0, 0, 0}},
        {"no nonzeros", 4, {0, 0, 0, 0, 0, 0, 0}},
        {"one element", 1, {1}},
        {"one row", 1000, {777}},
        {"one column", 1, {1, 0, 1, 1, 0, 0, 1}},
        {"rows of 0 to 40", 41, lengths},
        {"rows of 0 to 40, shuffled, wide", 5003, shuffled},
        {"empty first and last rows", 9, {0, 0, 3, 9, 0, 1, 0, 0}},
        {"tall, many empty rows", 13, sparse_rows},
        {"one very long row", 80'021, skewed},
    };
}

/// What the elements of matrix and vector look like.
enum class Values
{
    integers, ///< magnitude 1 to 3: every sum is exact
    uniform,  ///< magnitude 0.1 to 1
    wide,     ///< products from far below to far above 1
    denormal, ///< products of the smallest normal numbers and small factors
};

/// All kinds of values and their names.
inline constexpr std::pair<Values, char const*> all_values[] = {
    {Values::integers, "integers"},
    {Values::uniform, "uniform"},
    {Values::wide, "wide"},
    {Values::denormal, "denormal"},
};

/// Fills `elements`; in a product of kind `denormal` the vector's elements are of ordinary size.
/// Processors take a hundred times as long for a product that is no normal number: among many
/// elements few make one, the others the smallest that are normal.
template <class T>
void fill(std::span<T> elements, Values kind, bool vector, Generator& random)
{
    constexpr std::size_t many = 10'000;
    std::uniform_real_distribution<T> magnitude{T(0.1), 1};
    std::uniform_int_distribution<int> integer{1, 3};
    int const range = std::numeric_limits<T>::max_exponent / 2 - 20;
    std::uniform_int_distribution<int> exponent{-range, range};
    for (std::size_t k = 0; k < elements.size(); ++k) {
        T& element = elements[k];
        T const size = kind == Values::integers ? T(integer(random)) : magnitude(random);
        element = random() % 2 ? size : -size;
        if (kind == Values::wide) {
            element = std::ldexp(element, exponent(random));
        } else if (kind == Values::denormal && !vector) {
            bool const normal = elements.size() > many && k % 61 > 0;
            element *= std::numeric_limits<T>::min() * T(normal ? 128 : 1);
        }
    }
}

/// A matrix of this shape with random columns and values.
template <class T>
sparse::Csr<T> make_matrix(Shape const& shape, Values kind, Generator& random)
{
    sparse::Csr<T> a;
    a.rows = static_cast<std::int32_t>(shape.row_lengths.size());
    a.columns = shape.columns;
    for (std::int32_t const length : shape.row_lengths) {
        std::set<std::int32_t> columns;
        while (columns.size() < static_cast<std::size_t>(length)) {
            columns.insert(static_cast<std::int32_t>(random() % shape.columns));
        }
        a.col.insert(a.col.end(), columns.begin(), columns.end());
        a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size()));
    }
    a.values.resize(a.col.size());
    fill<T>(a.values, kind, false, random);
    return a;
}

/// The matrix of a structure, filled with numbers of magnitude 0.1 to 1.
template <class T>
sparse::Csr<T> filled(sparse::Pattern<> const& p)
{
    Generator random{5};
    sparse::Csr<T> a{p.rows, p.columns, p.row_ptr, p.col, {}};
    a.values.resize(a.nonzeros());
    fill<T>(a.values, Values::uniform, false, random);
    return a;
}

/// Small matrices of every class.
inline std::vector<std::pair<std::string, sparse::Pattern<>>> classes()
{
    return {
        {"pois2d", sparse::poisson2d(60)},
        {"sten27", sparse::stencil27(12)},
        {"fem3", sparse::fem3(7)},
        {"fem3s", sparse::fem3_shuffled(7, 64, 1)},
        {"band64", sparse::banded(700, 64)},
        {"random", sparse::random_rows(5000, 5000, 10, 1)},
        {"rmat", sparse::rmat(11, 20'000, 1)},
        {"dnrow", sparse::dense_rows(9000, 3, 6, 500, 1)},
        {"short", sparse::short_rows(9000, 200, 1)},
        {"ragged", sparse::ragged(3000, 200, 90, 1)},
        {"wide", sparse::random_rows(40, 200'000, 3000, 1)},
        {"many_long", sparse::dense_rows(1500, 100, 6, 200, 1)},
    };
}

/// A vector that a matrix of `columns` columns can be multiplied with.
template <class T>
std::vector<T> make_vector(std::int32_t columns, Values kind, Generator& random)
{
    std::vector<T> x(columns);
    fill<T>(x, kind, true, random);
    return x;
}

/// First row whose result is not within its bound (NaN never is), or -1.
template <class T>
std::ptrdiff_t first_wrong_row(std::span<T const> y, Expected const& expected)
{
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (!(std::abs(y[i] - expected.value[i]) <= expected.bound[i])) {
            return static_cast<std::ptrdiff_t>(i);
        }
    }
    return -1;
}

/// A matrix, a vector and what their product has to be.
template <class T>
struct TestProduct
{
    std::string name;               ///< shape and kind of values
    sparse::Csr<T> a;               ///< the matrix
    std::vector<T> x;               ///< as many elements as the matrix has columns
    Expected expected;              ///< bound 0 where the values are integers
    Values kind = Values::integers; ///< of its elements
};

/// Makes a matrix of every awkward shape with every kind of values.
template <class T>
std::vector<TestProduct<T>> make_cases()
{
    Generator random{11};
    std::vector<TestProduct<T>> cases;
    for (Shape const& shape : awkward_shapes()) {
        for (auto const& [kind, kind_name] : all_values) {
            auto a = make_matrix<T>(shape, kind, random);
            auto x = make_vector<T>(a.columns, kind, random);
            auto expected = spmv::expected<T>(a, x);
            if (kind == Values::integers) {
                std::ranges::fill(expected.bound, 0);
            }
            cases.push_back({shape.name + ", " + kind_name, std::move(a), std::move(x),
                             std::move(expected), kind});
        }
    }
    return cases;
}

/// Those matrices, made once in a program.
template <class T>
std::vector<TestProduct<T>> const& cases()
{
    static auto const made = make_cases<T>();
    return made;
}

/// Runs `multiply` on a poisoned `y` between guards: every element must be written and right, and
/// nothing beside them may change. The first product that is wrong ends the test case.
template <class T>
void check_multiply(TestProduct<T> const& test, Multiply<T> const& multiply)
{
    constexpr std::size_t guards = 32;
    auto const rows = static_cast<std::size_t>(test.a.rows);
    std::vector<T> memory(rows + 2 * guards, T(42));
    auto const y = std::span{memory}.subspan(guards, rows);
    std::ranges::fill(y, std::numeric_limits<T>::quiet_NaN());

    multiply(test.x, y);

    REQUIRE(first_wrong_row<T>(y, test.expected) == -1);
    auto const untouched = [](T guard) { return guard == T(42); };
    REQUIRE(std::ranges::all_of(std::span{memory}.first(guards), untouched));
    REQUIRE(std::ranges::all_of(std::span{memory}.last(guards), untouched));
}

/// Checks what `make(a)` returns for each awkward matrix `a`, in every kind of values.
template <class T, class Make>
void check_on_awkward_matrices(Make make)
{
    for (TestProduct<T> const& test : cases<T>()) {
        CAPTURE(test.name);
        check_multiply<T>(test, make(test.a.view()));
    }
}

} // namespace spmv::testing
