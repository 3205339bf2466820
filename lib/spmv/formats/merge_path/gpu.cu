#include "spmv/formats/merge_path/gpu.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

namespace spmv::gpu {

namespace {

constexpr int part_threads = 128;
constexpr int thread_items = 7; ///< odd, so that threads read from different banks
constexpr int part_items = part_threads * thread_items;

/// The row in which part `part` of the merged list begins: each row end follows its entries.
template <class T>
__global__ void find_first_rows(CsrView<T> a, int parts, std::int32_t* first_row)
{
    std::int64_t const part = global_thread();
    if (part <= parts) {
        std::int64_t const item = part * part_items;
        first_row[part] = first_where(a.rows, [&](std::int32_t row) {
            return std::int64_t{a.row_ptr[row + 1]} + row >= item;
        });
    }
}

//! [gpu_merge_path]
template <class T>
__global__
__launch_bounds__(part_threads) void merge_path_kernel(CsrView<T> a, std::int32_t const* first_row,
                                                       T* open_sum, T const* __restrict__ x,
                                                       T* __restrict__ y)
{
    __shared__ T product[part_items];
    __shared__ T row_sum[part_items + 1];
    __shared__ std::int32_t row_end[part_items];
    std::int64_t const first_item = std::int64_t{blockIdx.x} * part_items;
    std::int64_t const items = std::int64_t{a.rows} + a.nonzeros;
    auto const count = static_cast<int>(min(std::int64_t{part_items}, items - first_item));
    int const first = first_row[blockIdx.x];
    int const rows = first_row[blockIdx.x + 1] - first; // that end in this part
    auto const begin = static_cast<int>(first_item - first);
    int const entries = count - rows;
    for (int i = threadIdx.x; i < entries; i += part_threads) {
        product[i] = __ldcs(a.values + begin + i) * x[__ldcs(a.col + begin + i)];
    }
    for (int i = threadIdx.x; i < rows; i += part_threads) {
        row_end[i] = a.row_ptr[first + i + 1] - begin;
    }
    for (int i = threadIdx.x; i <= rows; i += part_threads) {
        row_sum[i] = 0;
    }
    __syncthreads();

    // Each thread walks along its items: it adds a product, or ends a row.
    int const item = min(static_cast<int>(threadIdx.x) * thread_items, count);
    int const last_item = min(item + thread_items, count);
    int row = first_where(min(rows, item), [&](int r) { return row_end[r] + r >= item; });
    int entry = item - row;
    T sum = 0;
    for (int i = item; i < last_item; ++i) {
        if (row < rows && entry == row_end[row]) {
            atomicAdd(row_sum + row, sum); // other threads may have parts of the row
            sum = 0;
            ++row;
        } else {
            sum += product[entry++];
        }
    }
    atomicAdd(row_sum + row, sum);
    __syncthreads();
    for (int i = threadIdx.x; i < rows; i += part_threads) {
        y[first + i] = row_sum[i];
    }
    if (threadIdx.x == 0) {
        open_sum[blockIdx.x] = row_sum[rows];
    }
}

/// Adds what parts left unfinished to the row that a later part ended: a warp for each such row,
/// which belongs to the first part that left it. No atomic addition, as that of single precision in
/// the memory of the device takes denormal numbers for zero.
template <class T>
__global__ void add_open_sums(int parts, std::int32_t rows, std::int32_t const* first_row,
                              T const* open_sum, T* y)
{
    std::int64_t const part = global_thread() / warp;
    std::int32_t const row = part < parts ? first_row[part + 1] : rows;
    if (row == rows || first_row[part] == row && part > 0) {
        return;
    }
    T sum = 0;
    for (std::int64_t p = part + threadIdx.x % warp; p < parts && first_row[p + 1] == row;
         p += warp) {
        sum += open_sum[p];
    }
    sum = sum_of_lanes<warp>(sum);
    if (threadIdx.x % warp == 0) {
        y[row] += sum;
    }
}
//! [gpu_merge_path]

} // namespace

template <class T>
MergePath<T>::MergePath(CsrView<T> const& a, cudaStream_t stream)
    : first_row_(static_cast<std::size_t>(ceil_div(std::int64_t{a.rows} + a.nonzeros, part_items)) +
                 1),
      open_sum_(first_row_.size() - 1)
{
    auto const parts = static_cast<int>(open_sum_.size());
    auto const blocks = static_cast<unsigned>(ceil_div(parts + 1, 256));
    find_first_rows<<<blocks, 256, 0, stream>>>(a, parts, first_row_.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
}

template <class T>
void MergePath<T>::operator()(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream) const
{
    auto const parts = static_cast<int>(open_sum_.size());
    if (parts == 0) {
        return;
    }
    merge_path_kernel<<<static_cast<unsigned>(parts), part_threads, 0, stream>>>(
        a, first_row_.data(), open_sum_.data(), x, y);
    ::cuda::check_launch();
    add_open_sums<<<static_cast<unsigned>(ceil_div(std::int64_t{parts} * warp, 256)), 256, 0,
                    stream>>>(parts, a.rows, first_row_.data(), open_sum_.data(), y);
    ::cuda::check_launch();
}

template class MergePath<float>;
template class MergePath<double>;

} // namespace spmv::gpu
