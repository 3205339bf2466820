#pragma once

#include "spmv/steps/aligned_csr.hpp"

#include "sparse/csr.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

/// \file
/// Serial `y = A x` in plain C++, one step at a time: each function differs from an earlier one by
/// one idea. `x` has `columns` elements, `y` has `rows` and is overwritten. Call them with their
/// type, `textbook<float>(a, x, y)`, so that owning matrices and vectors convert to views.

namespace spmv {

/// The loop of the textbook. The sum lives in `y[i]`, and as the compiler cannot know that `y` lies
/// apart from the matrix and `x`, it has to store each partial sum.
//! [textbook]
template <class T>
void textbook(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i] = 0;
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            y[i] += a.values[p] * x[a.col[p]];
        }
    }
}
//! [textbook]

/// The sum lives in a register and is stored once per row.
//! [accumulator]
template <class T>
void accumulator(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        T sum = 0;
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            sum += a.values[p] * x[a.col[p]];
        }
        y[i] = sum;
    }
}
//! [accumulator]

/// The sum of a row begins as zero times the last one, so that no row can begin before the one
/// above it is done.
//! [rows_in_turn]
template <class T>
void rows_in_turn(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y)
{
    T sum = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        sum *= 0; // 0, but only when the sum is known
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            sum += a.values[p] * x[a.col[p]];
        }
        y[i] = sum;
    }
}
//! [rows_in_turn]

/// Promises that nothing else reaches the elements of `y`. GCC believes `__restrict` on parameters
/// only, hence pointers here and the overload below.
//! [restrict_pointers]
template <class T>
void restrict_pointers(sparse::CsrView<T> const& a, T const* __restrict x, T* __restrict y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        T sum = 0;
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            sum += a.values[p] * x[a.col[p]];
        }
        y[i] = sum;
    }
}
//! [restrict_pointers]

/// As above, called as all the others are.
template <class T>
void restrict_pointers(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y)
{
    restrict_pointers(a, x.data(), y.data());
}

/// The matrix starts on cache lines, and the compiler is told so.
//! [aligned]
template <class T>
void aligned(AlignedCsr<T> const& a, std::span<T const> x, std::span<T> y)
{
    std::int32_t const* row_ptr = std::assume_aligned<64>(a.row_ptr.data());
    std::int32_t const* col = std::assume_aligned<64>(a.col.data());
    T const* values = std::assume_aligned<64>(a.values.data());
    for (std::int32_t i = 0; i < a.rows; ++i) {
        T sum = 0;
        for (std::int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            sum += values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}
//! [aligned]

/// Four sums that do not wait for each other.
//! [unroll4]
template <class T>
void unroll4(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        T sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            sum0 += a.values[p] * x[a.col[p]];
            sum1 += a.values[p + 1] * x[a.col[p + 1]];
            sum2 += a.values[p + 2] * x[a.col[p + 2]];
            sum3 += a.values[p + 3] * x[a.col[p + 3]];
        }
        for (; p < end; ++p) {
            sum0 += a.values[p] * x[a.col[p]];
        }
        y[i] = (sum0 + sum1) + (sum2 + sum3);
    }
}
//! [unroll4]

/// The same text as `unroll4`, compiled without the vectoriser: what the four sums gain by
/// themselves.
template <class T>
void unroll4_scalar(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y);
template <>
void unroll4_scalar<float>(sparse::CsrView<float> const& a, std::span<float const> x,
                           std::span<float> y);
template <>
void unroll4_scalar<double>(sparse::CsrView<double> const& a, std::span<double const> x,
                            std::span<double> y);

/// Asks for the element of `x` that is needed 64 products later, beyond the row's end too.
//! [prefetch]
template <class T>
void prefetch(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y)
{
    std::int32_t const last = a.row_ptr[a.rows] - 1;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        T sum = 0;
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            __builtin_prefetch(&x[a.col[std::min(p, last - 64) + 64]]);
            sum += a.values[p] * x[a.col[p]];
        }
        y[i] = sum;
    }
}
//! [prefetch]

} // namespace spmv
