#include "dense/gpu/elementwise.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/tile.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace dense::gpu {

namespace {

constexpr int side = 32; // of a tile of a block
constexpr int rows_at_a_time = 8;

/// A block for each tile, which is read and written along rows. Bits move as they are.
template <class Bits>
__global__ void transpose_kernel(View<Bits const> from, View<Bits> to, int tiles_across)
{
    __shared__ Bits tile[side][side + 1]; // one more against bank conflicts
    int const i0 = blockIdx.x / tiles_across * side;
    int const j0 = blockIdx.x % tiles_across * side;
    int const column = threadIdx.x;
    for (int row = threadIdx.y; row < side; row += rows_at_a_time) {
        if (i0 + row < from.rows && j0 + column < from.columns) {
            tile[row][column] = from.data[(i0 + row) * from.stride + j0 + column];
        }
    }
    __syncthreads();
    for (int row = threadIdx.y; row < side; row += rows_at_a_time) {
        if (j0 + row < to.rows && i0 + column < to.columns) {
            to.data[(j0 + row) * to.stride + i0 + column] = tile[column][row];
        }
    }
}

template <class T>
__global__ void add_scaled_kernel(Sum<T> alpha, View<T const> x, Sum<T> beta, View<T> c)
{
    int const step = gridDim.y * blockDim.y;
    for (std::int64_t i = blockIdx.y * blockDim.y + threadIdx.y; i < c.rows; i += step) {
        int const j = blockIdx.x * blockDim.x + threadIdx.x;
        if (j < c.columns) {
            T& to = c.data[i * c.stride + j];
            narrow(scaled<T>(alpha, widened(x.data[i * x.stride + j]), beta, to), to);
        }
    }
}

/// Numbers as wide as `T`, which a kernel can hold in shared memory.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 2, std::uint16_t, T>;

} // namespace

template <class T>
void set_zero(Matrix<T> c, cuda::Stream const& stream)
{
    auto const size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    if (c.stride == c.columns) {
        cuda::check(cudaMemsetAsync(c.data, 0, size(c.rows * c.columns) * sizeof(T), stream.get()));
    } else {
        cuda::check(cudaMemset2DAsync(c.data, size(c.stride) * sizeof(T), 0,
                                      size(c.columns) * sizeof(T), size(c.rows), stream.get()));
    }
}

template <class T>
void transpose(Matrix<T const> from, Matrix<T> to, cuda::Stream const& stream)
{
    auto const view = [](auto* data, auto const& m) {
        return view_of(Matrix{data, m.rows, m.columns, m.stride});
    };
    auto const across = ceil_div(from.columns, side);
    auto const tiles = static_cast<unsigned>(ceil_div(from.rows, side) * across);
    transpose_kernel<<<tiles, dim3(side, rows_at_a_time), 0, stream.get()>>>(
        view(reinterpret_cast<BitsOf<T> const*>(from.data), from),
        view(reinterpret_cast<BitsOf<T>*>(to.data), to), static_cast<int>(across));
    cuda::check_launch();
}

template <class T>
void add_scaled(double alpha, Matrix<T const> x, double beta, Matrix<T> c,
                cuda::Stream const& stream)
{
    constexpr std::int64_t most_blocks = 65535; // of a grid downwards
    dim3 const grid(static_cast<unsigned>(ceil_div(c.columns, side)),
                    static_cast<unsigned>(std::min(ceil_div(c.rows, rows_at_a_time), most_blocks)));
    add_scaled_kernel<T><<<grid, dim3(side, rows_at_a_time), 0, stream.get()>>>(
        static_cast<Sum<T>>(alpha), view_of(x), static_cast<Sum<T>>(beta), view_of(c));
    cuda::check_launch();
}

template <class T>
void scale(double beta, Matrix<T> c, cuda::Stream const& stream)
{
    if (beta == 0) {
        set_zero(c, stream);
    } else {
        add_scaled<T>(beta, c, 0, c, stream);
    }
}

#define INSTANTIATE(T)                                                                             \
    template void set_zero(Matrix<T>, cuda::Stream const&);                                        \
    template void transpose(Matrix<T const>, Matrix<T>, cuda::Stream const&);                      \
    template void add_scaled(double, Matrix<T const>, double, Matrix<T>, cuda::Stream const&);     \
    template void scale(double, Matrix<T>, cuda::Stream const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
INSTANTIATE(float);
INSTANTIATE(double);
#undef INSTANTIATE

} // namespace dense::gpu
