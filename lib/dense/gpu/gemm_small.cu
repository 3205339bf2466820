#include "dense/gpu/gemm_half.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/tile.cuh"

#include <algorithm>

namespace dense::gpu {

namespace {

constexpr int threads = 256;
constexpr int lanes = 32;
constexpr int warps = threads / lanes;
constexpr int few_columns = few_columns_of_small;

struct Scaling
{
    float alpha, beta;
};

//! [small_across]
/// A block makes a row of 32 elements of c, each of its warps an eighth of the depth, so that rows
/// of b are read along.
template <class T>
__global__ void __launch_bounds__(threads)
    small_across(View<T const> a, View<T const> b, View<T> c, Scaling scaling)
{
    __shared__ float part[warps][lanes];
    int const lane = threadIdx.x % lanes;
    int const warp = threadIdx.x / lanes;
    int const j = blockIdx.x * lanes + lane;
    for (std::int64_t i = blockIdx.y; i < c.rows; i += gridDim.y) {
        float sum = 0;
        if (j < c.columns) {
#pragma unroll 4
            for (int k = warp; k < a.columns; k += warps) {
                sum += widened(a.data[i * a.stride + k]) * widened(b.data[k * b.stride + j]);
            }
        }
        part[warp][lane] = sum;
        __syncthreads();
        if (warp == 0 && j < c.columns) {
            sum = 0;
            for (int w = 0; w < warps; ++w) {
                sum += part[w][lane];
            }
            auto& to = c.data[i * c.stride + j];
            narrow(scaled(scaling.alpha, sum, scaling.beta, to), to);
        }
        __syncthreads();
    }
}
//! [small_across]

//! [small_along]
/// A warp makes a row of c that has few elements, and reads along its row of a.
template <class T>
__global__ void __launch_bounds__(threads)
    small_along(View<T const> a, View<T const> b, View<T> c, Scaling scaling)
{
    int const lane = threadIdx.x % lanes;
    std::int64_t const i = std::int64_t{blockIdx.x} * warps + threadIdx.x / lanes;
    if (i >= c.rows) {
        return;
    }
    float sum[few_columns] = {};
#pragma unroll 4
    for (int k = lane; k < a.columns; k += lanes) {
        float const of_a = widened(a.data[i * a.stride + k]);
#pragma unroll
        for (int j = 0; j < few_columns; ++j) {
            sum[j] += j < c.columns ? of_a * widened(b.data[k * b.stride + j]) : 0;
        }
    }
#pragma unroll
    for (int j = 0; j < few_columns; ++j) {
        for (int step = lanes / 2; step > 0; step /= 2) {
            sum[j] += __shfl_xor_sync(~0u, sum[j], step);
        }
        if (lane == j && j < c.columns) {
            auto& to = c.data[i * c.stride + j];
            narrow(scaled(scaling.alpha, sum[j], scaling.beta, to), to);
        }
    }
}
//! [small_along]

} // namespace

template <class T>
void multiply_small(double alpha, Matrix<T const> a, Matrix<T const> b, double beta, Matrix<T> c,
                    cuda::Stream const& stream)
{
    Scaling const scaling{static_cast<float>(alpha), static_cast<float>(beta)};
    if (c.columns <= few_columns) {
        auto const blocks = static_cast<unsigned>(ceil_div(c.rows, warps));
        small_along<T>
            <<<blocks, threads, 0, stream.get()>>>(view_of(a), view_of(b), view_of(c), scaling);
    } else {
        constexpr std::int64_t most_blocks = 65535; // of a grid downwards
        dim3 const grid(static_cast<unsigned>(ceil_div(c.columns, lanes)),
                        static_cast<unsigned>(std::min(c.rows, most_blocks)));
        small_across<T>
            <<<grid, threads, 0, stream.get()>>>(view_of(a), view_of(b), view_of(c), scaling);
    }
    cuda::check_launch();
}

#define INSTANTIATE(T)                                                                             \
    template void multiply_small(double, Matrix<T const>, Matrix<T const>, double, Matrix<T>,      \
                                 cuda::Stream const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
