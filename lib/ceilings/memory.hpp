#pragma once

#include "ceilings/array.hpp"
#include "ceilings/instruction_set.hpp"

#include <omp.h>

#include <cstddef>
#include <span>

namespace ceilings {

// Bandwidth kernels on `threads` OpenMP threads, each on its own `slice`, with the vectors of
// `for_memory`. `T` is float or double. Spans of one call have the same length and do not overlap.
// Bytes are counted as STREAM counts them: what the definition reads and writes, once. A store that
// first reads its line moves more than that, and the rate shows it.

/// Runs `work(begin, count)` for every thread's slice of `count` elements.
template <class T, class Work>
void for_slices(std::size_t count, int threads, Work work)
{
#pragma omp parallel num_threads(threads)
    {
        auto const own = slice(count, sizeof(T), omp_get_thread_num(), omp_get_num_threads());
        work(own.begin, own.size());
    }
}

/// The sum of what a kernel of an `InstructionSet` makes of every thread's slice.
template <class T>
T sum_of_slices(T (*kernel)(T const*, T const*, std::size_t), std::span<T const> a,
                std::span<T const> b, int threads)
{
    T sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        auto const own = slice(a.size(), sizeof(T), omp_get_thread_num(), omp_get_num_threads());
        sum += kernel(a.data() + own.begin, b.data() + own.begin, own.size());
    }
    return sum;
}

/// Dot product, read in order; moves `2 * sizeof(T)` bytes an element.
template <class T>
T read_simd(std::span<T const> a, std::span<T const> b, int threads)
{
    return sum_of_slices(for_memory<T>().read_simd, a, b, threads);
}

/// Dot product, two places of each array read at once; moves `2 * sizeof(T)` bytes an element.
template <class T>
T read_four_streams(std::span<T const> a, std::span<T const> b, int threads)
{
    return sum_of_slices(for_memory<T>().read_four_streams, a, b, threads);
}

/// `c[i] = a[i]` with stores through the caches; moves `2 * sizeof(T)` bytes an element.
template <class T>
void copy_simd(std::span<T const> a, std::span<T> c, int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().copy_simd(a.data() + begin, c.data() + begin, count);
    });
}

/// As `copy_simd`, with stores past the caches.
template <class T>
void copy_streaming_stores(std::span<T const> a, std::span<T> c, int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().copy_streaming_stores(a.data() + begin, c.data() + begin, count);
    });
}

/// `a[i] = b[i] + scalar * c[i]`; moves `3 * sizeof(T)` bytes an element.
template <class T>
void triad_simd(std::span<T> a, std::span<T const> b, T scalar, std::span<T const> c, int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().triad_simd(a.data() + begin, b.data() + begin, scalar, c.data() + begin,
                                   count);
    });
}

/// As `triad_simd`, with stores past the caches.
template <class T>
void triad_streaming_stores(std::span<T> a, std::span<T const> b, T scalar, std::span<T const> c,
                            int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().triad_streaming_stores(a.data() + begin, b.data() + begin, scalar,
                                               c.data() + begin, count);
    });
}

} // namespace ceilings
