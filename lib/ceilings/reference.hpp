#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ceilings {

/// What a kernel must write, in higher precision, and the largest absolute error of each element
/// that rounding can explain, in whatever order a kernel adds.
struct Reference
{
    std::vector<double> value;
    std::vector<double> bound;
};

/// One element: the sum of `a[i] * b[i]`.
template <class T>
Reference dot_reference(std::span<T const> a, std::span<T const> b);

/// `a` itself, without error.
template <class T>
Reference copy_reference(std::span<T const> a);

/// `b[i] + scalar * c[i]`, rounded once or twice.
template <class T>
Reference triad_reference(std::span<T const> b, T scalar, std::span<T const> c);

/// What `run_fma` writes: `fma_elements<T>` sums for each of `threads` threads.
template <class T>
Reference fma_reference(std::span<T const> start, T x, T y, int threads);

/// `count` counters that all stand at `value`.
Reference counted(std::size_t count, double value);

} // namespace ceilings
