#include "dense/gpu/gemm_small.hpp"

#include "base/half.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/gemm_shallow.hpp"
#include "dense/gpu/tile.cuh"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

namespace dense::gpu {

namespace {

constexpr int threads = 256;
constexpr int lanes = 32;
constexpr int few_warps = threads / lanes;
constexpr int many_warps = 32;
constexpr int few_columns = 8;

struct Scaling
{
    float alpha, beta;
};

//! [small_tiles]
constexpr int side = 64;           // of a tile
constexpr int depth_of_slice = 16; // of the sum, that lie in shared memory
constexpr int of_thread = 4;       // rows and columns of a tile that a thread makes

/// A block makes a tile of c from slices of a and b in shared memory, while the next are on their
/// way into registers. A thread makes four rows, of two pairs of columns.
template <class T>
__global__ void __launch_bounds__(threads)
    small_tiles(View<T const> a, View<T const> b, View<T> c, Scaling scaling, int tiles_across)
{
    constexpr int loads = side * depth_of_slice / threads; // of each slice, by a thread
    __shared__ __align__(16) float slice_a[2][depth_of_slice][side + 4];
    __shared__ __align__(16) float slice_b[2][depth_of_slice][side];
    int const i0 = blockIdx.x / tiles_across * side;
    int const j0 = blockIdx.x % tiles_across * side;
    int const k_a = threadIdx.x % depth_of_slice, i_a = threadIdx.x / depth_of_slice;
    int const k_b = threadIdx.x / side, j_b = threadIdx.x % side;
    T next_a[loads], next_b[loads];
    auto const load = [&](int k0) {
#pragma unroll
        for (int e = 0; e < loads; ++e) {
            int const i = i0 + i_a + e * (threads / depth_of_slice);
            bool const is_of_a = i < a.rows && k0 + k_a < a.columns;
            next_a[e] = is_of_a ? a.data[i * a.stride + k0 + k_a] : T{};
            int const k = k0 + k_b + e * (threads / side);
            bool const is_of_b = k < b.rows && j0 + j_b < b.columns;
            next_b[e] = is_of_b ? b.data[k * b.stride + j0 + j_b] : T{};
        }
    };
    auto const store = [&](int to) {
#pragma unroll
        for (int e = 0; e < loads; ++e) {
            slice_a[to][k_a][i_a + e * (threads / depth_of_slice)] = widened(next_a[e]);
            slice_b[to][k_b + e * (threads / side)][j_b] = widened(next_b[e]);
        }
    };
    int const i = threadIdx.x / 16 * of_thread, j = threadIdx.x % 16 * 2;
    float sum[of_thread][of_thread] = {};
    load(0);
    store(0);
    for (int k0 = 0, from = 0; k0 < a.columns; k0 += depth_of_slice, from ^= 1) {
        __syncthreads();
        bool const has_next = k0 + depth_of_slice < a.columns;
        if (has_next) {
            load(k0 + depth_of_slice);
        }
#pragma unroll
        for (int k = 0; k < depth_of_slice; ++k) {
            auto const of_a = *reinterpret_cast<float4 const*>(&slice_a[from][k][i]);
            auto const left = *reinterpret_cast<float2 const*>(&slice_b[from][k][j]);
            auto const right = *reinterpret_cast<float2 const*>(&slice_b[from][k][j + side / 2]);
            float const row[]{of_a.x, of_a.y, of_a.z, of_a.w};
            float const column[]{left.x, left.y, right.x, right.y};
#pragma unroll
            for (int y = 0; y < of_thread; ++y) {
#pragma unroll
                for (int x = 0; x < of_thread; ++x) {
                    sum[y][x] += row[y] * column[x];
                }
            }
        }
        if (has_next) {
            store(from ^ 1);
        }
    }
#pragma unroll
    for (int y = 0; y < of_thread; ++y) {
#pragma unroll
        for (int x = 0; x < of_thread; ++x) {
            int const to_i = i0 + i + y, to_j = j0 + j + x % 2 + x / 2 * (side / 2);
            if (to_i < c.rows && to_j < c.columns) {
                auto& to = c.data[to_i * c.stride + to_j];
                narrow(scaled(scaling.alpha, sum[y][x], scaling.beta, to), to);
            }
        }
    }
}
//! [small_tiles]

//! [small_across]
/// A block makes a row of 32 elements of c, each of its warps a part of the depth, so that rows of
/// b are read along.
template <class T, int warps>
__global__ void __launch_bounds__(lanes* warps)
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

/// Warps of a block that makes whole rows of c, each by so many.
template <int warps_of_row>
constexpr int warps_along = std::max(warps_of_row, few_warps);

//! [small_along]
/// Warps share the depth of a row of c that has few elements, and read along their row of a.
template <class T, int warps_of_row>
__global__ void __launch_bounds__(lanes* warps_along<warps_of_row>)
    small_along(View<T const> a, View<T const> b, View<T> c, Scaling scaling)
{
    constexpr int rows = warps_along<warps_of_row> / warps_of_row;
    int const lane = threadIdx.x % lanes;
    int const warp = threadIdx.x / lanes % warps_of_row; // of those of the row
    std::int64_t const i = std::int64_t{blockIdx.x} * rows + threadIdx.x / (lanes * warps_of_row);
    float sum[few_columns] = {};
    if (i < c.rows) {
#pragma unroll 4
        for (int k = warp * lanes + lane; k < a.columns; k += warps_of_row * lanes) {
            float const of_a = widened(a.data[i * a.stride + k]);
#pragma unroll
            for (int j = 0; j < few_columns; ++j) {
                sum[j] += j < c.columns ? of_a * widened(b.data[k * b.stride + j]) : 0;
            }
        }
    }
    float own = 0; // of the column that has this lane's number
#pragma unroll
    for (int j = 0; j < few_columns; ++j) {
        for (int step = lanes / 2; step > 0; step /= 2) {
            sum[j] += __shfl_xor_sync(~0u, sum[j], step);
        }
        own = lane == j ? sum[j] : own;
    }
    if constexpr (warps_of_row > 1) {
        __shared__ float part[warps_of_row][lanes];
        part[warp][lane] = own;
        __syncthreads();
        own = 0;
#pragma unroll
        for (int w = 0; w < warps_of_row; ++w) {
            own += part[w][lane];
        }
    }
    if (warp == 0 && i < c.rows && lane < c.columns) {
        auto& to = c.data[i * c.stride + lane];
        narrow(scaled(scaling.alpha, own, scaling.beta, to), to);
    }
}
//! [small_along]

// --- which is the fastest ------------------------------------------------------------------------

/// Microseconds of a kernel: of a launch, of each turn of a thread's loop over the depth, and, of
/// many blocks, of each of them and of each of its turns.
struct Cost
{
    double launch, turn, block, turn_of_block;

    double of(std::int64_t turns, std::int64_t blocks) const
    {
        auto const t = static_cast<double>(turns);
        auto const b = static_cast<double>(blocks);
        return launch + std::max(turn * t, b * (block + turn_of_block * t));
    }
};

Scaling scaling_of(double alpha, double beta)
{
    return {static_cast<float>(alpha), static_cast<float>(beta)};
}

template <class T, int warps>
void launch_across(double alpha, Matrix<T const> const& a, Matrix<T const> const& b, double beta,
                   Matrix<T> const& c, cuda::Stream const& stream)
{
    constexpr std::int64_t most_blocks = 65535; // of a grid downwards
    dim3 const grid(static_cast<unsigned>(ceil_div(c.columns, lanes)),
                    static_cast<unsigned>(std::min(c.rows, most_blocks)));
    small_across<T, warps><<<grid, lanes * warps, 0, stream.get()>>>(
        view_of(a), view_of(b), view_of(c), scaling_of(alpha, beta));
    cuda::check_launch();
}

template <class T, int warps>
void launch_along(double alpha, Matrix<T const> const& a, Matrix<T const> const& b, double beta,
                  Matrix<T> const& c, cuda::Stream const& stream)
{
    constexpr int warps_of_block = warps_along<warps>;
    auto const blocks = static_cast<unsigned>(ceil_div(c.rows, warps_of_block / warps));
    small_along<T, warps><<<blocks, lanes * warps_of_block, 0, stream.get()>>>(
        view_of(a), view_of(b), view_of(c), scaling_of(alpha, beta));
    cuda::check_launch();
}

template <class T>
void launch_tiles(double alpha, Matrix<T const> const& a, Matrix<T const> const& b, double beta,
                  Matrix<T> const& c, cuda::Stream const& stream)
{
    auto const across = ceil_div(c.columns, side);
    auto const blocks = static_cast<unsigned>(ceil_div(c.rows, side) * across);
    small_tiles<T><<<blocks, threads, 0, stream.get()>>>(
        view_of(a), view_of(b), view_of(c), scaling_of(alpha, beta), static_cast<int>(across));
    cuda::check_launch();
}

} // namespace

std::string_view name_of(SmallWay way)
{
    switch (way) {
    case SmallWay::shallow:
        return "whole sums";
    case SmallWay::tiles:
        return "tiles of 64 x 64 without tensor cores";
    case SmallWay::across_few:
        return "rows by 8 warps";
    case SmallWay::across_many:
        return "rows by 32 warps";
    case SmallWay::along_few:
        return "a warp for each row";
    case SmallWay::along_many:
        return "32 warps for each row";
    }
    return {};
}

std::vector<SmallPlan> small_plans(std::int64_t rows, std::int64_t columns, std::int64_t depth)
{
    // Fitted to what an H200 took for 1,926 drawn products.
    constexpr Cost shallow{1.25, 0.103, 1.41e-3, 3e-4};
    constexpr Cost tiles{1.31, 0.85, 4.9e-3, 4.7e-3};
    constexpr Cost across_few{1.42, 0.05, 5.65e-4, 1.27e-4};
    constexpr Cost across_many{1.48, 0.074, 2.55e-3, 6.4e-4};
    constexpr Cost along_few{1.3, 0.19, 1.42e-3, 7.5e-4};
    constexpr Cost along_many{1.45, 0.42, 5.3e-3, 3.2e-3};
    auto const across = rows * ceil_div(columns, lanes);
    auto const of_tiles = ceil_div(rows, side) * ceil_div(columns, side);
    std::vector<SmallPlan> plans{
        {SmallWay::shallow, shallow.of(depth, shallow_blocks(rows, columns))},
        {SmallWay::tiles, tiles.of(ceil_div(depth, depth_of_slice), of_tiles)},
        {SmallWay::across_few, across_few.of(ceil_div(depth, few_warps), across)},
        {SmallWay::across_many, across_many.of(ceil_div(depth, many_warps), across)}};
    if (columns <= few_columns) {
        plans.push_back(
            {SmallWay::along_few, along_few.of(ceil_div(depth, lanes), ceil_div(rows, few_warps))});
        plans.push_back(
            {SmallWay::along_many, along_many.of(ceil_div(depth, lanes * many_warps), rows)});
    }
    std::ranges::stable_sort(plans, {}, &SmallPlan::microseconds);
    return plans;
}

template <class T>
void multiply_small(SmallWay way, double alpha, Matrix<T const> a, Matrix<T const> b, double beta,
                    Matrix<T> c, cuda::Stream const& stream)
{
    bool const is_along = way == SmallWay::along_few || way == SmallWay::along_many;
    if (is_along && c.columns > few_columns) {
        throw std::invalid_argument{"multiply_small: this way makes at most 8 columns"};
    }
    switch (way) {
    case SmallWay::shallow:
        return multiply_shallow(alpha, a, b, beta, c, stream);
    case SmallWay::tiles:
        return launch_tiles<T>(alpha, a, b, beta, c, stream);
    case SmallWay::across_few:
        return launch_across<T, few_warps>(alpha, a, b, beta, c, stream);
    case SmallWay::across_many:
        return launch_across<T, many_warps>(alpha, a, b, beta, c, stream);
    case SmallWay::along_few:
        return launch_along<T, 1>(alpha, a, b, beta, c, stream);
    case SmallWay::along_many:
        return launch_along<T, many_warps>(alpha, a, b, beta, c, stream);
    }
}

#define INSTANTIATE(T)                                                                             \
    template void multiply_small(SmallWay, double, Matrix<T const>, Matrix<T const>, double,       \
                                 Matrix<T>, cuda::Stream const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
