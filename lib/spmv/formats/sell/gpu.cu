#include "spmv/formats/sell/gpu.hpp"

#include "spmv/device/threads.cuh"
#include "spmv/formats/fill.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <cub/block/block_radix_sort.cuh>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace spmv::gpu {

namespace {

constexpr int kernel_threads = 128;

/// Neighbouring elements of a lane at most.
template <class T>
constexpr int most_pack = sizeof(T) == 4 ? 4 : 2;

/// How a kernel loads slices: `once`, from memory, or again and again, from the last-level cache,
/// where long rows want more loads under way.
struct Streamed
{
    static constexpr bool once = true;
    static constexpr int threads = 128;
    static constexpr int unroll = 4;
};
struct Cached
{
    static constexpr bool once = false;
    static constexpr int threads = 128;
    static constexpr int unroll = 4;
};
struct CachedLong
{
    static constexpr bool once = false;
    static constexpr int threads = 256;
    static constexpr int unroll = 16;
};

/// Elements of a row from which on it is long.
constexpr int long_row = 32;

//! [gpu_sell]
template <class Loads, int pack, class T, class Column>
__global__ __launch_bounds__(Loads::threads) void sell_kernel(SellView<T, Column> a,
                                                              T const* __restrict__ x,
                                                              T* __restrict__ y)
{
    constexpr bool narrow = sizeof(Column) == 2;
    auto const slice = static_cast<int>(global_thread() / slice_rows);
    int const lane = threadIdx.x % slice_rows;
    if (slice >= a.slices) {
        return;
    }
    std::int64_t const begin = a.begin[slice];
    auto const width = static_cast<int>((a.begin[slice + 1] - begin) / slice_rows);
    Column const* from_col = a.col + begin + lane * pack;
    T const* from_value = a.values + begin + lane * pack;
    int col = narrow ? a.base[slice] : 0;
    T sum = 0;
#pragma unroll Loads::unroll
    for (int step = 0; step < width; step += pack) {
        Pack<Column, pack> const columns = load_pack<Loads::once, pack>(from_col);
        Pack<T, pack> const values = load_pack<Loads::once, pack>(from_value);
        from_col += slice_rows * pack;
        from_value += slice_rows * pack;
#pragma unroll
        for (int i = 0; i < pack; ++i) {
            col = narrow ? col + columns.element[i] : columns.element[i];
            sum += values.element[i] * __ldg(x + col);
        }
    }
    int const row = a.row ? a.row[slice * slice_rows + lane] : slice * slice_rows + lane;
    if (row < a.rows) {
        y[row] = sum;
    }
}
//! [gpu_sell]

/// Sorts the rows of each window by length, longest first.
template <class T>
__global__ void sort_rows(CsrView<T> a, std::int32_t* order)
{
    constexpr int threads = 256;
    constexpr int each = sort_window / threads;
    using Sort = cub::BlockRadixSort<std::uint32_t, threads, each>;
    __shared__ typename Sort::TempStorage storage;
    constexpr int longest = (1 << 22) - 1;
    std::int64_t const first = std::int64_t{blockIdx.x} * sort_window;
    std::uint32_t key[each]; // shortness, then the place in the window
    for (int i = 0; i < each; ++i) {
        int const place = threadIdx.x * each + i;
        std::int64_t const row = first + place;
        int const length = row < a.rows ? a.row_ptr[row + 1] - a.row_ptr[row] : 0;
        key[i] = static_cast<std::uint32_t>(longest - min(length, longest)) * sort_window + place;
    }
    Sort{storage}.Sort(key);
    for (int i = 0; i < each; ++i) {
        auto const place = static_cast<std::int32_t>(key[i] % sort_window);
        order[first + threadIdx.x * each + i] = static_cast<std::int32_t>(first) + place;
    }
}

/// The row of a lane: beyond the last row it has no entries.
__device__ std::int32_t row_of(std::int32_t const* order, std::int32_t slice, int lane)
{
    return order ? order[slice * slice_rows + lane] : slice * slice_rows + lane;
}

template <class T>
__global__ void find_widths(CsrView<T> a, std::int32_t slices, std::int32_t const* order,
                            std::int32_t* width)
{
    auto const slice = static_cast<std::int32_t>(global_thread() / slice_rows);
    int const lane = threadIdx.x % slice_rows;
    if (slice >= slices) {
        return;
    }
    std::int32_t const row = row_of(order, slice, lane);
    int const length = row < a.rows ? a.row_ptr[row + 1] - a.row_ptr[row] : 0;
    int const longest = largest_of_warp(length);
    if (lane == 0) {
        width[slice] = longest;
    }
}

/// Fills the elements of a lane; says in `far` if a narrow column would not fit.
template <class T, class Column>
__global__ void fill_slices(CsrView<T> a, std::int32_t slices, std::int32_t const* order, int pack,
                            std::int64_t const* begin, std::int32_t* base, Column* col, T* values,
                            int* far)
{
    constexpr bool narrow = sizeof(Column) == 2;
    auto const slice = static_cast<std::int32_t>(global_thread() / slice_rows);
    int const lane = threadIdx.x % slice_rows;
    if (slice >= slices) {
        return;
    }
    std::int32_t const row = row_of(order, slice, lane);
    std::int32_t const first = row < a.rows ? a.row_ptr[row] : 0;
    std::int32_t const last = row < a.rows ? a.row_ptr[row + 1] : 0;
    std::int32_t const first_col = smallest_of_warp(first < last ? a.col[first] : a.columns);
    if (narrow && lane == 0) {
        base[slice] = min(first_col, max(a.columns - 1, 0)); // without entries no one reads it
    }
    auto const width = static_cast<int>((begin[slice + 1] - begin[slice]) / slice_rows);
    std::int32_t before = first_col;
    for (int step = 0; step < width; ++step) {
        bool const present = step < last - first;
        std::int32_t const column = present ? a.col[first + step] : before;
        std::int64_t const to =
            begin[slice] + (step / pack * slice_rows + lane) * pack + step % pack;
        std::int32_t const stored = narrow ? column - before : column;
        if (narrow && stored > 0xffff) {
            *far = 1;
        }
        col[to] = static_cast<Column>(stored);
        values[to] = present ? entry(a.values[first + step]) : spmv::gpu::fill<T>();
        before = column;
    }
}

/// Slices as the kernel computes with them.
template <class T, class Column>
SellView<Filled<T>, Column> filled(SellView<T, Column> const& a)
{
    return {a.rows, a.slices, a.begin, a.base, a.row, a.col, spmv::gpu::filled(a.values)};
}

/// Sums of slices, as `SellOutlook` has them.
struct SliceSums
{
    unsigned long long elements;
    std::int32_t longest;
    std::int32_t farthest; ///< distance that narrow columns would have to store
};

template <class T>
__global__ void look_at_slices(CsrView<T> a, std::int32_t slices, SliceSums* sums)
{
    auto const slice = static_cast<std::int32_t>(global_thread() / slice_rows);
    int const lane = threadIdx.x % slice_rows;
    if (slice >= slices) {
        return;
    }
    std::int32_t const row = row_of(nullptr, slice, lane);
    std::int32_t const first = row < a.rows ? a.row_ptr[row] : 0;
    std::int32_t const last = row < a.rows ? a.row_ptr[row + 1] : 0;
    std::int32_t before = smallest_of_warp(first < last ? a.col[first] : a.columns);
    std::int32_t farthest = 0;
    for (std::int32_t p = first; p < last; ++p) {
        farthest = max(farthest, a.col[p] - before);
        before = a.col[p];
    }
    farthest = largest_of_warp(farthest);
    std::int32_t const longest = largest_of_warp(last - first);
    if (lane == 0) {
        atomicAdd(&sums->elements, static_cast<unsigned long long>(longest) * slice_rows);
        if (longest > sums->longest) {
            atomicMax(&sums->longest, longest);
        }
        if (farthest > sums->farthest) {
            atomicMax(&sums->farthest, farthest);
        }
    }
}

/// Widths of all slices, on the host.
template <class T>
std::vector<std::int32_t> widths(CsrView<T> const& a, std::int32_t slices,
                                 std::int32_t const* order, cudaStream_t stream)
{
    ::cuda::Buffer<std::int32_t> width(static_cast<std::size_t>(slices));
    if (slices > 0) {
        auto const blocks =
            static_cast<unsigned>(ceil_div(std::int64_t{slices} * slice_rows, kernel_threads));
        find_widths<<<blocks, kernel_threads, 0, stream>>>(a, slices, order, width.data());
        ::cuda::check_launch();
        ::cuda::check(cudaStreamSynchronize(stream));
    }
    return width.download();
}

/// Elements that slices store if their widths are rounded up to multiples of `pack`.
std::int64_t stored_elements(std::vector<std::int32_t> const& widths, int pack)
{
    std::int64_t steps = 0;
    for (auto const width : widths) {
        steps += ceil_div(width, pack) * pack;
    }
    return steps * slice_rows;
}

} // namespace

template <class T>
SellOutlook sell_outlook(CsrView<T> const& a, cudaStream_t stream)
{
    auto const slices = static_cast<std::int32_t>(ceil_div(a.rows, slice_rows));
    if (slices == 0) {
        return {0, 0, true};
    }
    ::cuda::Buffer<SliceSums> sums(1);
    ::cuda::check(cudaMemsetAsync(sums.data(), 0, sums.bytes(), stream));
    auto const blocks =
        static_cast<unsigned>(ceil_div(std::int64_t{slices} * slice_rows, kernel_threads));
    look_at_slices<<<blocks, kernel_threads, 0, stream>>>(a, slices, sums.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    auto const found = sums.download().front();
    return {static_cast<std::int64_t>(found.elements), found.longest, found.farthest <= 0xffff};
}

template SellOutlook sell_outlook(CsrView<float> const&, cudaStream_t);
template SellOutlook sell_outlook(CsrView<double> const&, cudaStream_t);

template <class T>
Sell<T>::Sell(CsrView<T> const& a, bool narrow, cudaStream_t stream)
    : rows_{a.rows}, slices_{static_cast<std::int32_t>(ceil_div(a.rows, slice_rows))},
      narrow_{narrow}, begin_(static_cast<std::size_t>(slices_) + 1), base_(0), row_(0),
      narrow_col_(0), wide_col_(0), values_(0)
{
    choose_order(a, stream);
    fill(a, stream);
}

template <class T>
void Sell<T>::choose_order(CsrView<T> const& a, cudaStream_t stream)
{
    auto width = widths(a, slices_, nullptr, stream);
    std::int64_t const in_order = stored_elements(width, 1);
    if (in_order > a.nonzeros + a.nonzeros / 50) { // else there is nothing to gain
        auto const windows = ceil_div(a.rows, sort_window);
        ::cuda::Buffer<std::int32_t> order(static_cast<std::size_t>(windows * sort_window));
        sort_rows<<<static_cast<unsigned>(windows), 256, 0, stream>>>(a, order.data());
        ::cuda::check_launch();
        auto sorted = widths(a, slices_, order.data(), stream);
        std::int64_t const element = sizeof(T) + (narrow_ ? 2 : 4);
        if (stored_elements(sorted, 1) * element + std::int64_t{a.rows} * 4 < in_order * element) {
            row_ = std::move(order);
            width = std::move(sorted);
        }
    }
    if (stored_elements(width, 1) > 4 * std::int64_t{a.nonzeros} + 32 * slice_rows) {
        throw std::length_error{"SELL: padding would be more than three times the nonzeros"};
    }
    // Larger packs need fewer loads, as long as they hardly add padding.
    std::int64_t const least = stored_elements(width, 1);
    for (pack_ = most_pack<T>; stored_elements(width, pack_) > least + least / 64; pack_ /= 2) {
    }
    std::vector<std::int64_t> begin(width.size() + 1, 0);
    for (std::size_t slice = 0; slice < width.size(); ++slice) {
        begin[slice + 1] = begin[slice] + ceil_div(width[slice], pack_) * pack_ * slice_rows;
    }
    begin_.upload(std::span<std::int64_t const>{begin});
    auto const elements = static_cast<std::size_t>(begin.back());
    values_ = ::cuda::Buffer<T>(elements);
    if (narrow_) {
        narrow_col_ = ::cuda::Buffer<std::uint16_t>(elements);
        base_ = ::cuda::Buffer<std::int32_t>(static_cast<std::size_t>(slices_));
    } else {
        wide_col_ = ::cuda::Buffer<std::int32_t>(elements);
    }
}

template <class T>
void Sell<T>::fill(CsrView<T> const& a, cudaStream_t stream)
{
    if (slices_ == 0) {
        return;
    }
    ::cuda::Buffer<int> far(1);
    ::cuda::check(cudaMemsetAsync(far.data(), 0, far.bytes(), stream));
    auto const blocks =
        static_cast<unsigned>(ceil_div(std::int64_t{slices_} * slice_rows, kernel_threads));
    auto const with = [&](auto* col) {
        fill_slices<<<blocks, kernel_threads, 0, stream>>>(
            a, slices_, sorted() ? row_.data() : nullptr, pack_, begin_.data(), base_.data(), col,
            values_.data(), far.data());
        ::cuda::check_launch();
        ::cuda::check(cudaStreamSynchronize(stream));
    };
    narrow_ ? with(narrow_col_.data()) : with(wide_col_.data());
    if (far.download().front() != 0) {
        throw std::length_error{"SELL: columns of a row or slice are more than 65535 apart"};
    }
}

template <class T>
template <class Column>
SellView<T, Column> Sell<T>::view(::cuda::Buffer<Column> const& col) const
{
    return {
        rows_,      slices_,       begin_.data(), base_.data(), sorted() ? row_.data() : nullptr,
        col.data(), values_.data()};
}

template <class T>
void Sell<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    if (slices_ == 0) {
        return;
    }
    auto const launch = [&](auto loads, auto pack, auto const& a) {
        using Loads = decltype(loads);
        auto const threads = std::int64_t{slices_} * slice_rows;
        auto const blocks = static_cast<unsigned>(ceil_div(threads, Loads::threads));
        sell_kernel<Loads, pack><<<blocks, Loads::threads, 0, stream>>>(
            filled(a), spmv::gpu::filled(x), spmv::gpu::filled(y));
        ::cuda::check_launch();
    };
    auto const with_pack = [&](auto loads, auto const& a) {
        pack_ == 4   ? launch(loads, std::integral_constant<int, 4>{}, a)
        : pack_ == 2 ? launch(loads, std::integral_constant<int, 2>{}, a)
                     : launch(loads, std::integral_constant<int, 1>{}, a);
    };
    bool const is_long =
        values_.size() / static_cast<std::size_t>(slices_ * slice_rows) >= long_row;
    auto const with = [&](auto const& a) {
        !::cuda::stays_in_l2(bytes()) ? with_pack(Streamed{}, a)
        : is_long                     ? with_pack(CachedLong{}, a)
                                      : with_pack(Cached{}, a);
    };
    narrow_ ? with(view(narrow_col_)) : with(view(wide_col_));
}

template <class T>
std::size_t Sell<T>::bytes() const
{
    return begin_.bytes() + base_.bytes() + row_.bytes() + narrow_col_.bytes() + wide_col_.bytes() +
           values_.bytes();
}

template class Sell<float>;
template class Sell<double>;

} // namespace spmv::gpu
