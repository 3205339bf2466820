#pragma once

#include "base/expected.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

//! [@MARK@_one_pass]
/// `sum = a + b + c`, each element once.
template <class T>
void one_pass(std::span<T const> a, std::span<T const> b, std::span<T const> c, std::span<T> sum)
{
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = a[i] + b[i] + c[i];
    }
}
//! [@MARK@_one_pass]

//! [@MARK@_two_passes]
/// `sum = a + b`, then `sum = sum + c`.
template <class T>
void two_passes(std::span<T const> a, std::span<T const> b, std::span<T const> c, std::span<T> sum)
{
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = a[i] + b[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += c[i];
    }
}
//! [@MARK@_two_passes]

/// The sums in double precision, and what the two roundings of an element may change.
template <class T>
base::Expected expected_sums(std::span<T const> a, std::span<T const> b, std::span<T const> c)
{
    base::Expected expected;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double const x = a[i];
        double const y = b[i];
        double const z = c[i];
        double const magnitude = std::abs(x) + std::abs(y) + std::abs(z);
        expected.value.push_back(x + y + z);
        expected.bound.push_back(2 * std::numeric_limits<T>::epsilon() * magnitude);
    }
    return expected;
}
