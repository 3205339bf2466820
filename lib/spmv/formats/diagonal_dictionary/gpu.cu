#include "spmv/formats/diagonal_dictionary/gpu.hpp"

#include "spmv/device/threads.cuh"
#include "spmv/formats/sell/gpu.hpp"

#include "cuda/error.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace spmv::gpu {

namespace {

constexpr int kernel_threads = 128;

//! [diagonal_dictionary]
template <class T>
__global__ __launch_bounds__(kernel_threads) void diagonal_dictionary_kernel(
    DiagonalDictionaryView<T> a, T const* __restrict__ x, T* __restrict__ y)
{
    __shared__ int offset[most_diagonals];
    for (int i = threadIdx.x; i < a.diagonals; i += kernel_threads) {
        offset[i] = a.offset[i];
    }
    __syncthreads();
    std::int64_t const row = global_thread();
    if (row >= a.rows) {
        return;
    }
    std::int64_t const first = a.begin[row / slice_rows] + row % slice_rows;
    int const entries = a.length[row];
    T sum = 0;
#pragma unroll 4
    for (int i = 0; i < entries; ++i) {
        std::int64_t const element = first + i * slice_rows;
        int const diagonal = __ldcs(a.diagonal + element);
        sum += __ldcs(a.values + element) * __ldg(x + row + offset[diagonal]);
    }
    y[row] = sum;
}
//! [diagonal_dictionary]

/// Marks the diagonals that have an entry: element `rows - 1 + column - row` of `met`.
template <class T>
__global__ void mark_diagonals(CsrView<T> a, std::uint8_t* met)
{
    std::int64_t const row = global_thread();
    if (row < a.rows) {
        for (std::int32_t p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
            met[a.rows - 1 + a.col[p] - row] = 1;
        }
    }
}

/// Lists the diagonals that were marked, in no order; counts all, lists at most `most_diagonals`.
__global__ void list_diagonals(std::uint8_t const* met, std::int64_t size, std::int32_t rows,
                               std::int32_t* count, std::int32_t* offset)
{
    std::int64_t const which = global_thread();
    if (which < size && met[which] != 0) {
        std::int32_t const place = atomicAdd(count, 1);
        if (place < most_diagonals) {
            offset[place] = static_cast<std::int32_t>(which - (rows - 1));
        }
    }
}

/// Lengths of rows, and of the longest of each slice.
template <class T>
__global__ void find_lengths(CsrView<T> a, std::int32_t slices, std::uint8_t* length,
                             std::int32_t* width)
{
    std::int64_t const row = global_thread();
    if (row / slice_rows >= slices) {
        return;
    }
    int const entries = row < a.rows ? a.row_ptr[row + 1] - a.row_ptr[row] : 0;
    if (row < a.rows) {
        length[row] = static_cast<std::uint8_t>(min(entries, 0xff));
    }
    int const longest = largest_of_warp(entries);
    if (row % slice_rows == 0) {
        width[row / slice_rows] = longest;
    }
}

/// Writes the elements of each row; `offset` is sorted.
template <class T>
__global__ void fill_rows(CsrView<T> a, std::int32_t diagonals, std::int32_t const* offset,
                          std::int64_t const* begin, std::uint8_t* diagonal, T* values)
{
    std::int64_t const row = global_thread();
    if (row >= a.rows) {
        return;
    }
    std::int64_t to = begin[row / slice_rows] + row % slice_rows;
    for (std::int32_t p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p, to += slice_rows) {
        std::int64_t const wanted = a.col[p] - row;
        diagonal[to] = static_cast<std::uint8_t>(
            first_where(diagonals, [&](std::int32_t i) { return offset[i] >= wanted; }));
        values[to] = a.values[p];
    }
}

unsigned blocks_for(std::int64_t threads)
{
    return static_cast<unsigned>(ceil_div(threads, kernel_threads));
}

} // namespace

template <class T>
DiagonalDictionary<T>::DiagonalDictionary(CsrView<T> const& a, cudaStream_t stream)
    : rows_{a.rows}, slices_{static_cast<std::int32_t>(ceil_div(a.rows, slice_rows))}, offset_(0),
      begin_(static_cast<std::size_t>(slices_) + 1), length_(static_cast<std::size_t>(a.rows)),
      diagonal_(0), values_(0)
{
    if (slices_ == 0) {
        return;
    }
    find_diagonals(a, stream);
    ::cuda::Buffer<std::int32_t> widths(static_cast<std::size_t>(slices_));
    find_lengths<<<blocks_for(std::int64_t{slices_} * slice_rows), kernel_threads, 0, stream>>>(
        a, slices_, length_.data(), widths.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    std::vector<std::int64_t> begin{0};
    for (auto const width : widths.download()) {
        if (width > 0xff) {
            throw std::length_error{"diagonal dictionary: a row has more than 255 entries"};
        }
        begin.push_back(begin.back() + std::int64_t{width} * slice_rows);
    }
    if (begin.back() > 2 * std::int64_t{a.nonzeros} + slice_rows) {
        throw std::length_error{"diagonal dictionary: more padding than nonzeros"};
    }
    begin_.upload(std::span<std::int64_t const>{begin});
    diagonal_ = ::cuda::Buffer<std::uint8_t>(static_cast<std::size_t>(begin.back()));
    values_ = ::cuda::Buffer<T>(diagonal_.size());
    fill_rows<<<blocks_for(a.rows), kernel_threads, 0, stream>>>(
        a, static_cast<std::int32_t>(offset_.size()), offset_.data(), begin_.data(),
        diagonal_.data(), values_.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
}

template <class T>
void DiagonalDictionary<T>::find_diagonals(CsrView<T> const& a, cudaStream_t stream)
{
    std::int64_t const size = std::int64_t{a.rows} + a.columns;
    ::cuda::Buffer<std::uint8_t> met(static_cast<std::size_t>(size));
    ::cuda::Buffer<std::int32_t> count(1);
    ::cuda::Buffer<std::int32_t> listed(most_diagonals);
    ::cuda::check(cudaMemsetAsync(met.data(), 0, met.bytes(), stream));
    ::cuda::check(cudaMemsetAsync(count.data(), 0, count.bytes(), stream));
    ::cuda::check(cudaMemsetAsync(listed.data(), 0, listed.bytes(), stream));
    mark_diagonals<<<blocks_for(a.rows), kernel_threads, 0, stream>>>(a, met.data());
    ::cuda::check_launch();
    list_diagonals<<<blocks_for(size), kernel_threads, 0, stream>>>(met.data(), size, a.rows,
                                                                    count.data(), listed.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    auto const diagonals = count.download().front();
    if (diagonals > most_diagonals) {
        throw std::length_error{"diagonal dictionary: there are more than 256 diagonals"};
    }
    auto offsets = listed.download();
    offsets.resize(static_cast<std::size_t>(diagonals));
    std::ranges::sort(offsets);
    offset_ = ::cuda::Buffer<std::int32_t>{std::span<std::int32_t const>{offsets}};
}

template <class T>
DiagonalDictionaryView<T> DiagonalDictionary<T>::view() const
{
    return {rows_,
            slices_,
            static_cast<std::int32_t>(offset_.size()),
            offset_.data(),
            begin_.data(),
            length_.data(),
            diagonal_.data(),
            values_.data()};
}

template <class T>
void DiagonalDictionary<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    if (slices_ > 0) {
        diagonal_dictionary_kernel<<<blocks_for(rows_), kernel_threads, 0, stream>>>(view(), x, y);
        ::cuda::check_launch();
    }
}

template <class T>
std::size_t DiagonalDictionary<T>::bytes() const
{
    return offset_.bytes() + begin_.bytes() + length_.bytes() + diagonal_.bytes() + values_.bytes();
}

template class DiagonalDictionary<float>;
template class DiagonalDictionary<double>;

} // namespace spmv::gpu
