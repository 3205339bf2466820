#include "spmv/steps/reference.hpp"

#include "spmv/steps/test_matrices.hpp"

#include <doctest/doctest.h>

using spmv::testing::Generator;
using spmv::testing::Values;

namespace {

/// One row with these values, one column each.
template <class T>
sparse::Csr<T> one_row(std::vector<T> const& values)
{
    sparse::Csr<T> a;
    a.rows = 1;
    a.columns = static_cast<std::int32_t>(values.size());
    a.col.resize(values.size());
    std::iota(a.col.begin(), a.col.end(), 0);
    a.values.assign(values.begin(), values.end());
    a.row_ptr.push_back(a.columns);
    return a;
}

} // namespace

TEST_CASE_TEMPLATE("the reference keeps what summation in T cancels", T, float, double)
{
    T const large = 1 / std::numeric_limits<T>::epsilon();
    auto const a = one_row<T>({4 * large, 1, -4 * large});
    auto const expected = spmv::expected<T>(a, std::vector<T>{1, 1, 1});
    CHECK(expected.value[0] == 1);
    CHECK(expected.bound[0] >= 1);
}

TEST_CASE_TEMPLATE("the bound holds and is a few roundings wide", T, float, double)
{
    T const third = T(1) / 3;
    auto const expected = spmv::expected<T>(one_row<T>({third}), std::vector<T>{third});
    double const error = std::abs(static_cast<double>(third * third) - expected.value[0]);
    CHECK(error <= expected.bound[0]);
    CHECK(expected.bound[0] <= 10 * std::numeric_limits<T>::epsilon() / 9);
}

TEST_CASE_TEMPLATE("a dropped product lies outside the bound", T, float, double)
{
    Generator random{5};
    for (int length = 1; length <= 1000; length += length < 40 ? 1 : 97) {
        CAPTURE(length);
        auto const x = spmv::testing::make_vector<T>(length, Values::uniform, random);
        auto a = one_row<T>(spmv::testing::make_vector<T>(length, Values::uniform, random));
        auto const expected = spmv::expected<T>(a, x);
        a.values[random() % length] = 0;
        T const dropped = static_cast<T>(spmv::expected<T>(a, x).value[0]);
        CHECK(spmv::testing::first_wrong_row<T>(std::vector{dropped}, expected) == 0);
    }
}

TEST_CASE_TEMPLATE("an unwritten element lies outside the bound", T, float, double)
{
    auto const expected = spmv::expected<T>(one_row<T>({1}), std::vector<T>{1});
    std::vector const y{std::numeric_limits<T>::quiet_NaN()};
    CHECK(spmv::testing::first_wrong_row<T>(y, expected) == 0);
}

TEST_CASE_TEMPLATE("work counts every operand once", T, float, double)
{
    auto const a = one_row<T>({1, 2, 3});
    auto const work = spmv::work(a.view());
    CHECK(work.flops == 6);
    CHECK(work.bytes == 3 * sizeof(T) + 3 * 4 + 2 * 4 + 3 * sizeof(T) + sizeof(T));
}
