#include "dense/gpu/gemm_shallow.hpp"

#include "base/half.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/tile.cuh"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace dense::gpu {

namespace {

constexpr int threads = 256;
constexpr int rows_of_thread = 4;

//! [shallow]
/// A thread makes four rows of a column of c, so that it reads each element of b once for four
/// sums. Neighbours make neighbouring columns, and go on below where a row ends.
template <class T>
__global__ void __launch_bounds__(threads) shallow(View<T const> a, View<T const> b, View<T> c,
                                                   std::uint32_t count, Sum<T> alpha, Sum<T> beta)
{
    auto const columns = static_cast<std::uint32_t>(c.columns);
    std::int64_t const step = std::int64_t{gridDim.x} * threads;
    for (std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x; at < count;
         at += step) {
        auto const e = static_cast<std::uint32_t>(at); // is divided in a quarter of the time
        int const i = static_cast<int>(e / columns) * rows_of_thread;
        int const j = static_cast<int>(e % columns);
        T const* from_a[rows_of_thread];
        Sum<T> sum[rows_of_thread] = {};
#pragma unroll
        for (int y = 0; y < rows_of_thread; ++y) {
            from_a[y] = a.data + min(i + y, a.rows - 1) * a.stride;
        }
        T const* from_b = b.data + j;
#pragma unroll 4
        for (int k = 0; k < a.columns; ++k, from_b += b.stride) {
            Sum<T> const of_b = widened(*from_b);
#pragma unroll
            for (int y = 0; y < rows_of_thread; ++y) {
                sum[y] += widened(from_a[y][k]) * of_b;
            }
        }
#pragma unroll
        for (int y = 0; y < rows_of_thread; ++y) {
            if (i + y < c.rows) {
                auto& to = c.data[(i + y) * c.stride + j];
                narrow(scaled(alpha, sum[y], beta, to), to);
            }
        }
    }
}
//! [shallow]

} // namespace

std::int64_t shallow_blocks(std::int64_t rows, std::int64_t columns)
{
    return ceil_div(ceil_div(rows, rows_of_thread) * columns, threads);
}

template <class T>
void multiply_shallow(double alpha, Matrix<T const> a, Matrix<T const> b, double beta, Matrix<T> c,
                      cuda::Stream const& stream)
{
    auto const count = ceil_div(c.rows, rows_of_thread) * c.columns;
    if (count > std::int64_t{UINT32_MAX}) {
        throw std::invalid_argument{"dense::gpu::multiply_shallow: c has 2^34 elements or more"};
    }
    constexpr std::int64_t most_blocks = 1 << 20;
    auto const blocks =
        static_cast<unsigned>(std::min(shallow_blocks(c.rows, c.columns), most_blocks));
    shallow<T><<<blocks, threads, 0, stream.get()>>>(
        view_of(a), view_of(b), view_of(c), static_cast<std::uint32_t>(count),
        static_cast<Sum<T>>(alpha), static_cast<Sum<T>>(beta));
    cuda::check_launch();
}

#define INSTANTIATE(T)                                                                             \
    template void multiply_shallow(double, Matrix<T const>, Matrix<T const>, double, Matrix<T>,    \
                                   cuda::Stream const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
INSTANTIATE(float);
INSTANTIATE(double);
#undef INSTANTIATE

} // namespace dense::gpu
