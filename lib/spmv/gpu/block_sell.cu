#include "spmv/gpu/block_sell.hpp"

#include "spmv/gpu/device.cuh"
#include "spmv/gpu/sell.hpp"

#include "cuda/error.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace spmv::gpu {

namespace {

constexpr int slice_warps = 4; ///< that share the steps of a slice

//! [block_sell]
template <int block_rows, int block_columns, class T>
__global__ __launch_bounds__(slice_warps* warp) void block_sell_kernel(BlockSellView<T> a,
                                                                       T const* __restrict__ x,
                                                                       T* __restrict__ y)
{
    __shared__ T sums[slice_warps][slice_rows * block_rows];
    int const lane = threadIdx.x % warp;
    int const part = threadIdx.x / warp;
    int const end = a.begin[blockIdx.x + 1];
    T sum[block_rows] = {};
#pragma unroll 4
    for (int step = a.begin[blockIdx.x] + part; step < end; step += slice_warps) {
        int const col = __ldcs(a.col + std::int64_t{step} * slice_rows + lane);
        T const* value =
            a.values + std::int64_t{step} * (slice_rows * block_rows * block_columns) + lane;
#pragma unroll
        for (int c = 0; c < block_columns; ++c) {
            T const factor = __ldg(x + col + c);
#pragma unroll
            for (int r = 0; r < block_rows; ++r) {
                sum[r] += __ldcs(value + (c * block_rows + r) * slice_rows) * factor;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < block_rows; ++r) {
        sums[part][lane * block_rows + r] = sum[r];
    }
    __syncthreads();
    std::int64_t const first_row = std::int64_t{blockIdx.x} * (slice_rows * block_rows);
    for (int i = threadIdx.x; i < slice_rows * block_rows; i += slice_warps * warp) {
        T total = 0;
        for (int p = 0; p < slice_warps; ++p) {
            total += sums[p][i];
        }
        if (first_row + i < a.rows) {
            y[first_row + i] = total;
        }
    }
}
//! [block_sell]

/// Moves the blocks of a block row, one lane for each, to their places in the slice.
template <class T>
__global__ void fill_steps(std::int32_t block_rows, std::int32_t slices, int block_size,
                           std::int32_t const* first_block, std::int32_t const* from_col,
                           T const* from_values, std::int32_t const* begin, std::int32_t* col,
                           T* values)
{
    auto const slice = static_cast<std::int32_t>(global_thread() / slice_rows);
    int const lane = threadIdx.x % slice_rows;
    if (slice >= slices) {
        return;
    }
    std::int32_t const row = slice * slice_rows + lane;
    std::int32_t const first = row < block_rows ? first_block[row] : 0;
    std::int32_t const last = row < block_rows ? first_block[row + 1] : 0;
    for (std::int32_t step = begin[slice]; step < begin[slice + 1]; ++step) {
        std::int32_t const block = first + step - begin[slice];
        std::int64_t const to = std::int64_t{step} * slice_rows + lane;
        col[to] = block < last ? from_col[block] : first < last ? from_col[last - 1] : 0;
        for (int i = 0; i < block_size; ++i) {
            values[(std::int64_t{step} * block_size + i) * slice_rows + lane] =
                block < last ? from_values[std::int64_t{block} * block_size + i] : T{0};
        }
    }
}

template <class Action>
void with_shape(sparse::BlockShape shape, Action const& action)
{
    auto const call = [&](auto rows, auto columns) { action(rows, columns); };
    std::integral_constant<int, 2> const two;
    std::integral_constant<int, 3> const three;
    std::integral_constant<int, 4> const four;
    std::integral_constant<int, 6> const six;
    switch (shape.rows * 10 + shape.columns) {
    case 22:
        return call(two, two);
    case 23:
        return call(two, three);
    case 32:
        return call(three, two);
    case 33:
        return call(three, three);
    case 24:
        return call(two, four);
    case 42:
        return call(four, two);
    case 44:
        return call(four, four);
    case 66:
        return call(six, six);
    default:
        throw std::length_error{"block SELL: there is no kernel for blocks of " +
                                std::to_string(shape.rows) + " x " + std::to_string(shape.columns)};
    }
}

} // namespace

template <class T>
BlockSell<T>::BlockSell(sparse::Bcsr<T> const& blocks, cudaStream_t stream)
    : rows_{blocks.rows}, slices_{static_cast<std::int32_t>(ceil_div(blocks.units(), slice_rows))},
      shape_{blocks.shape}, begin_(static_cast<std::size_t>(slices_) + 1), col_(0), values_(0)
{
    with_shape(shape_, [](auto, auto) {});
    std::vector<std::int32_t> begin(begin_.size(), 0);
    for (std::int32_t slice = 0; slice < slices_; ++slice) {
        std::int32_t width = 0;
        auto const end = std::min((slice + 1) * slice_rows, blocks.units());
        for (std::int32_t row = slice * slice_rows; row < end; ++row) {
            width = std::max(width, blocks.first_block[row + 1] - blocks.first_block[row]);
        }
        begin[slice + 1] = begin[slice] + width;
    }
    begin_.upload(std::span<std::int32_t const>{begin});
    auto const places = static_cast<std::size_t>(begin.back()) * slice_rows;
    col_ = ::cuda::Buffer<std::int32_t>(places);
    values_ = ::cuda::Buffer<T>(places * static_cast<std::size_t>(shape_.size()));
    if (slices_ > 0) {
        ::cuda::Buffer<std::int32_t> const first_block{
            std::span<std::int32_t const>{blocks.first_block}};
        ::cuda::Buffer<std::int32_t> const col{std::span<std::int32_t const>{blocks.column}};
        ::cuda::Buffer<T> const values{std::span<T const>{blocks.values}};
        auto const grid = static_cast<unsigned>(ceil_div(std::int64_t{slices_} * slice_rows, 128));
        fill_steps<<<grid, 128, 0, stream>>>(blocks.units(), slices_, shape_.size(),
                                             first_block.data(), col.data(), values.data(),
                                             begin_.data(), col_.data(), values_.data());
        ::cuda::check_launch();
        ::cuda::check(cudaStreamSynchronize(stream));
    }
}

template <class T>
void BlockSell<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    if (slices_ == 0) {
        return;
    }
    with_shape(shape_, [&](auto block_rows, auto block_columns) {
        BlockSellView<T> const a{rows_, slices_, begin_.data(), col_.data(), values_.data()};
        block_sell_kernel<block_rows, block_columns>
            <<<static_cast<unsigned>(slices_), slice_warps * warp, 0, stream>>>(a, x, y);
        ::cuda::check_launch();
    });
}

template class BlockSell<float>;
template class BlockSell<double>;

} // namespace spmv::gpu
