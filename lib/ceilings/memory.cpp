#include "ceilings/memory.hpp"

#include "ceilings/array.hpp"
#include "ceilings/instruction_set.hpp"

#include <omp.h>

namespace ceilings {

namespace {

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

} // namespace

template <class T>
T read_simd(std::span<T const> a, std::span<T const> b, int threads)
{
    return sum_of_slices(for_memory<T>().read_simd, a, b, threads);
}

template <class T>
T read_four_streams(std::span<T const> a, std::span<T const> b, int threads)
{
    return sum_of_slices(for_memory<T>().read_four_streams, a, b, threads);
}

template <class T>
void copy_simd(std::span<T const> a, std::span<T> c, int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().copy_simd(a.data() + begin, c.data() + begin, count);
    });
}

template <class T>
void copy_streaming_stores(std::span<T const> a, std::span<T> c, int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().copy_streaming_stores(a.data() + begin, c.data() + begin, count);
    });
}

template <class T>
void triad_simd(std::span<T> a, std::span<T const> b, T scalar, std::span<T const> c, int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().triad_simd(a.data() + begin, b.data() + begin, scalar, c.data() + begin,
                                   count);
    });
}

template <class T>
void triad_streaming_stores(std::span<T> a, std::span<T const> b, T scalar, std::span<T const> c,
                            int threads)
{
    for_slices<T>(a.size(), threads, [=](std::size_t begin, std::size_t count) {
        for_memory<T>().triad_streaming_stores(a.data() + begin, b.data() + begin, scalar,
                                               c.data() + begin, count);
    });
}

template float read_simd(std::span<float const>, std::span<float const>, int);
template double read_simd(std::span<double const>, std::span<double const>, int);
template float read_four_streams(std::span<float const>, std::span<float const>, int);
template double read_four_streams(std::span<double const>, std::span<double const>, int);
template void copy_simd(std::span<float const>, std::span<float>, int);
template void copy_simd(std::span<double const>, std::span<double>, int);
template void copy_streaming_stores(std::span<float const>, std::span<float>, int);
template void copy_streaming_stores(std::span<double const>, std::span<double>, int);
template void triad_simd(std::span<float>, std::span<float const>, float, std::span<float const>,
                         int);
template void triad_simd(std::span<double>, std::span<double const>, double,
                         std::span<double const>, int);
template void triad_streaming_stores(std::span<float>, std::span<float const>, float,
                                     std::span<float const>, int);
template void triad_streaming_stores(std::span<double>, std::span<double const>, double,
                                     std::span<double const>, int);

} // namespace ceilings
