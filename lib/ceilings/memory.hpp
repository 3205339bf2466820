#pragma once

#include <cstddef>
#include <span>

namespace ceilings {

// Bandwidth kernels on `threads` OpenMP threads, each on its own `slice`, with the vectors of
// `for_memory`. `T` is float or double. Spans of one call have the same length and do not overlap.
// Bytes are counted as STREAM counts them: what the definition reads and writes, once. A store that
// first reads its line moves more than that, and the rate shows it.

/// Dot product, read in order; moves `2 * sizeof(T)` bytes an element.
template <class T>
T read_simd(std::span<T const> a, std::span<T const> b, int threads);

/// Dot product, two places of each array read at once; moves `2 * sizeof(T)` bytes an element.
template <class T>
T read_four_streams(std::span<T const> a, std::span<T const> b, int threads);

/// `c[i] = a[i]` with stores through the caches; moves `2 * sizeof(T)` bytes an element.
template <class T>
void copy_simd(std::span<T const> a, std::span<T> c, int threads);

/// `c[i] = a[i]` with stores past the caches; moves `2 * sizeof(T)` bytes an element.
template <class T>
void copy_streaming_stores(std::span<T const> a, std::span<T> c, int threads);

/// `a[i] = b[i] + scalar * c[i]`; moves `3 * sizeof(T)` bytes an element.
template <class T>
void triad_simd(std::span<T> a, std::span<T const> b, T scalar, std::span<T const> c, int threads);

/// As `triad_simd`, with stores past the caches; moves `3 * sizeof(T)` bytes an element.
template <class T>
void triad_streaming_stores(std::span<T> a, std::span<T const> b, T scalar, std::span<T const> c,
                            int threads);

} // namespace ceilings
