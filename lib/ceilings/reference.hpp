#pragma once

#include "base/expected.hpp"

#include <cstddef>
#include <span>

namespace ceilings {

// What kernels must write, in higher precision, and the largest absolute error of each element that
// rounding can explain, in whatever order a kernel adds.
using base::Expected;

/// One element: the sum of `a[i] * b[i]`.
template <class T>
Expected dot_reference(std::span<T const> a, std::span<T const> b);

/// `a` itself, without error.
template <class T>
Expected copy_reference(std::span<T const> a);

/// `b[i] + scalar * c[i]`, rounded once or twice.
template <class T>
Expected triad_reference(std::span<T const> b, T scalar, std::span<T const> c);

/// What `run_fma` writes: `fma_elements<T>` sums for each of `threads` threads.
template <class T>
Expected fma_reference(std::span<T const> start, T x, T y, int threads);

/// `count` counters that all stand at `value`.
Expected counted(std::size_t count, double value);

} // namespace ceilings
