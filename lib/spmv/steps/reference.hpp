#pragma once

#include "base/expected.hpp"
#include "base/work.hpp"
#include "sparse/csr.hpp"

#include <cstdint>
#include <span>

namespace spmv {

using base::Expected;
using base::Work;

/// Computes `A x` in the next wider type, and a bound for every order of summation, with or without
/// fused multiply-add: with u the unit roundoff of `T`, a sum of n products passes each of them
/// through at most n roundings, so the error is at most ((1 + u)^n - 1) sum |a||x| and, where
/// products underflow, n times the smallest positive number (Higham, Accuracy and Stability of
/// Numerical Algorithms, 2nd ed., section 3.1). The errors of the reference itself are added.
///
/// `x` has `columns` elements; `T` is float or double. Uses OpenMP where it is built with it.
template <class T>
Expected expected(sparse::CsrView<T> const& a, std::span<T const> x);

/// What `y = A x` must do at least: a multiply and an add for each nonzero; values, column indices,
/// row offsets, x and y once each.
template <class T>
Work work(sparse::CsrView<T> const& a)
{
    auto const nonzeros = static_cast<double>(a.nonzeros());
    auto const rows = static_cast<double>(a.rows);
    auto const columns = static_cast<double>(a.columns);
    double const indices = (nonzeros + rows + 1) * sizeof(std::int32_t);
    return {.flops = 2 * nonzeros, .bytes = indices + (nonzeros + rows + columns) * sizeof(T)};
}

} // namespace spmv
