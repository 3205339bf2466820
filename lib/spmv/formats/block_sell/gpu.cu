#include "spmv/formats/block_sell/gpu.hpp"

#include "spmv/device/threads.cuh"
#include "spmv/formats/fill.cuh"
#include "spmv/formats/sell/gpu.hpp"

#include "cuda/error.hpp"

#include <algorithm>
#include <numeric>
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

/// What is left of a block row while its blocks are taken from left to right.
template <int block_rows, int block_columns>
struct BlockRow
{
    std::int32_t at[block_rows]; ///< next nonzero of each row
    std::int32_t end[block_rows];

    template <class T>
    __device__ BlockRow(CsrView<T> const& a, std::int32_t block_row)
    {
        for (int r = 0; r < block_rows; ++r) {
            std::int64_t const row = std::int64_t{block_row} * block_rows + r;
            at[r] = row < a.rows ? a.row_ptr[row] : 0;
            end[r] = row < a.rows ? a.row_ptr[row + 1] : 0;
        }
    }

    /// First column of the next block; -1 if none is left. Blocks begin at multiples of their
    /// columns.
    __device__ std::int32_t next(std::int32_t const* col) const
    {
        std::int32_t column = -1;
        for (int r = 0; r < block_rows; ++r) {
            if (at[r] < end[r] && (column < 0 || col[at[r]] < column)) {
                column = col[at[r]];
            }
        }
        return column < 0 ? column : column / block_columns * block_columns;
    }

    /// Calls `take(row, position)` for each nonzero of the block that begins with `column`.
    template <class Take>
    __device__ void take(std::int32_t column, std::int32_t const* col, Take const& take)
    {
        for (int r = 0; r < block_rows; ++r) {
            for (; at[r] < end[r] && col[at[r]] - column < block_columns; ++at[r]) {
                take(r, at[r]);
            }
        }
    }
};

constexpr int conversion_threads = 128;

/// The most blocks that a block row of a slice has. A lane takes a block row.
template <int block_rows, int block_columns, class T>
__global__ void find_widths(CsrView<T> a, std::int32_t slices, std::int32_t* width)
{
    auto const slice = static_cast<std::int32_t>(global_thread() / slice_rows);
    if (slice >= slices) {
        return;
    }
    int const lane = threadIdx.x % slice_rows;
    BlockRow<block_rows, block_columns> row{a, slice * slice_rows + lane};
    std::int32_t blocks = 0;
    for (auto column = row.next(a.col); column >= 0; column = row.next(a.col)) {
        row.take(column, a.col, [](int, std::int32_t) {});
        ++blocks;
    }
    blocks = largest_of_warp(blocks);
    if (lane == 0) {
        width[slice] = blocks;
    }
}

/// Writes the blocks of a block row, one lane for each, to their places in the slice. A block that
/// would reach beyond the last column is moved left; where a slice is wider than the row, blocks
/// without entries stand at its last column.
template <int block_rows, int block_columns, class T>
__global__ void fill_slices(CsrView<T> a, std::int32_t slices, std::int32_t const* begin,
                            std::int32_t* col, T* values)
{
    constexpr int size = block_rows * block_columns;
    auto const slice = static_cast<std::int32_t>(global_thread() / slice_rows);
    if (slice >= slices) {
        return;
    }
    int const lane = threadIdx.x % slice_rows;
    BlockRow<block_rows, block_columns> row{a, slice * slice_rows + lane};
    std::int32_t first = 0;
    for (std::int32_t step = begin[slice]; step < begin[slice + 1]; ++step) {
        T* const block = values + std::int64_t{step} * (size * slice_rows) + lane;
        for (int i = 0; i < size; ++i) {
            block[i * slice_rows] = fill<T>();
        }
        auto const column = row.next(a.col);
        if (column >= 0) {
            first = min(column, a.columns - block_columns);
            row.take(column, a.col, [&](int r, std::int32_t position) {
                int const i = (a.col[position] - first) * block_rows + r;
                block[i * slice_rows] = entry(a.values[position]);
            });
        }
        col[std::int64_t{step} * slice_rows + lane] = first;
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

/// Rows from the middle, a whole number of blocks, on the host.
template <class T>
sparse::Pattern<> sample_of(CsrView<T> const& a)
{
    constexpr std::int32_t most = 1536;
    std::int32_t const first = std::max(0, a.rows / 2 - most / 2) / 48 * 48;
    sparse::Pattern<> sample{std::min(a.rows - first, most), a.columns, {}, {}};
    sample.row_ptr.resize(static_cast<std::size_t>(sample.rows) + 1);
    ::cuda::copy_to_host(sample.row_ptr.data(), a.row_ptr + first, sample.row_ptr.size() * 4);
    std::int32_t const begin = sample.row_ptr.front();
    for (auto& offset : sample.row_ptr) {
        offset -= begin;
    }
    sample.col.resize(static_cast<std::size_t>(sample.row_ptr.back()));
    ::cuda::copy_to_host(sample.col.data(), a.col + begin, sample.col.size() * 4);
    return sample;
}

} // namespace

template <class T>
BlockOutlook block_outlook(CsrView<T> const& a)
{
    auto const sample = sample_of(a);
    auto const shape = sparse::best_block_shape(sample, sizeof(T));
    return {shape, sparse::block_fill(sample, shape)};
}

template <class T>
BlockSell<T>::BlockSell(CsrView<T> const& a, sparse::BlockShape shape, cudaStream_t stream)
    : rows_{a.rows}, slices_{static_cast<std::int32_t>(
                         ceil_div(a.rows, std::int64_t{shape.rows} * slice_rows))},
      shape_{shape}, begin_(static_cast<std::size_t>(slices_) + 1), col_(0), values_(0)
{
    if (a.nonzeros > 0 && a.columns < shape.columns) {
        throw std::length_error{"block SELL: blocks of " + std::to_string(shape.columns) +
                                " columns do not fit into " + std::to_string(a.columns)};
    }
    with_shape(shape_, [&](auto block_rows, auto block_columns) {
        fill<block_rows, block_columns>(a, stream);
    });
}

template <class T>
template <int block_rows, int block_columns>
void BlockSell<T>::fill(CsrView<T> const& a, cudaStream_t stream)
{
    if (slices_ == 0) {
        return;
    }
    auto const grid =
        static_cast<unsigned>(ceil_div(std::int64_t{slices_} * slice_rows, conversion_threads));
    ::cuda::Buffer<std::int32_t> width(static_cast<std::size_t>(slices_));
    find_widths<block_rows, block_columns>
        <<<grid, conversion_threads, 0, stream>>>(a, slices_, width.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    std::vector<std::int32_t> begin(begin_.size(), 0);
    auto const widths = width.download();
    std::partial_sum(widths.begin(), widths.end(), begin.begin() + 1);
    begin_.upload(std::span<std::int32_t const>{begin});
    auto const places = static_cast<std::size_t>(begin.back()) * slice_rows;
    col_ = ::cuda::Buffer<std::int32_t>(places);
    values_ = ::cuda::Buffer<T>(places * static_cast<std::size_t>(shape_.size()));
    fill_slices<block_rows, block_columns><<<grid, conversion_threads, 0, stream>>>(
        a, slices_, begin_.data(), col_.data(), values_.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
}

template <class T>
void BlockSell<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    if (slices_ == 0) {
        return;
    }
    with_shape(shape_, [&](auto block_rows, auto block_columns) {
        BlockSellView<Filled<T>> const a{rows_, slices_, begin_.data(), col_.data(),
                                         filled(values_.data())};
        block_sell_kernel<block_rows, block_columns>
            <<<static_cast<unsigned>(slices_), slice_warps * warp, 0, stream>>>(a, filled(x),
                                                                                filled(y));
        ::cuda::check_launch();
    });
}

template BlockOutlook block_outlook(CsrView<float> const&);
template BlockOutlook block_outlook(CsrView<double> const&);
template class BlockSell<float>;
template class BlockSell<double>;

} // namespace spmv::gpu
