#include "ceilings/stream_loops.hpp"

namespace ceilings {

namespace {

//! [stream_copy]
template <class T>
void copy_loop(T const* __restrict a, T* __restrict c, std::size_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < count; ++i) {
        c[i] = a[i];
    }
}
//! [stream_copy]

//! [stream_triad]
template <class T>
void triad_loop(T* __restrict a, T const* __restrict b, T scalar, T const* __restrict c,
                std::size_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < count; ++i) {
        a[i] = b[i] + scalar * c[i];
    }
}
//! [stream_triad]

//! [babelstream_dot]
template <class T>
T dot_loop(T const* __restrict a, T const* __restrict b, std::size_t count, int threads)
{
    T sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < count; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}
//! [babelstream_dot]

} // namespace

void stream_copy(double const* a, double* c, std::size_t count, int threads)
{
    copy_loop(a, c, count, threads);
}

void stream_triad(double* a, double const* b, double scalar, double const* c, std::size_t count,
                  int threads)
{
    triad_loop(a, b, scalar, c, count, threads);
}

float babelstream_dot(float const* a, float const* b, std::size_t count, int threads)
{
    return dot_loop(a, b, count, threads);
}

double babelstream_dot(double const* a, double const* b, std::size_t count, int threads)
{
    return dot_loop(a, b, count, threads);
}

} // namespace ceilings
