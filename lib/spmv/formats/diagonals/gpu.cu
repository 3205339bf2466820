#include "spmv/formats/diagonals/gpu.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace spmv::gpu {

namespace {

constexpr int kernel_threads = 64;
constexpr int lane_rows = diagonal_rows_per_lane;
constexpr int diagonal_slice = lane_rows * warp; ///< rows
constexpr int every_step = 0x7fffffff;

/// Elements for each nonzero of a slice beyond which its matrix is not stored in diagonals.
constexpr int most_diagonal_fill = 4;

//! [gpu_diagonals]
template <class T>
__global__ __launch_bounds__(kernel_threads) void diagonals_kernel(DiagonalsView<T> a,
                                                                   T const* __restrict__ x,
                                                                   T* __restrict__ y)
{
    auto const slice = static_cast<int>(global_thread() / warp);
    int const lane = threadIdx.x % warp;
    if (slice >= a.slices) {
        return;
    }
    int const pattern = a.pattern[slice];
    int const begin = a.pattern_begin[pattern];
    int const end = a.pattern_begin[pattern + 1];
    T const* value = a.values + a.value_begin[slice] + lane;
    int const row = slice * diagonal_slice + lane;
    T sum[lane_rows] = {};
#pragma unroll 4
    for (int step = begin; step < end; ++step) {
        int const col = row + __ldg(a.offset + step);
        DiagonalMask const mask = a.mask[step];
#pragma unroll
        for (int r = 0; r < lane_rows; ++r) {
            T const factor = __ldcs(value + r * warp);
            bool const present = mask.lanes[r] >> lane & 1;
            // Loads some element in any case: a branch would keep loads from being issued together.
            T const element = __ldg(x + (present ? col + r * warp : 0));
            sum[r] += present ? factor * element : T{0};
        }
        value += diagonal_slice;
    }
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
        if (row + r * warp < a.rows) {
            y[row + r * warp] = sum[r];
        }
    }
}
//! [gpu_diagonals]

/// Walks through the entries of a slice, one diagonal after the other: calls
/// `visit(step, offset, mask, entry)` for each, where `entry[r]` is the entry of the lane's row `r`
/// if the mask has it. The warp calls it together; returns how many diagonals there are, or
/// `most_steps` if there are no fewer.
template <class T, class Visit>
__device__ int for_each_step(CsrView<T> const& a, std::int32_t slice, int most_steps,
                             Visit const& visit)
{
    constexpr int none = 0x7fffffff;
    std::int32_t const first_row = slice * diagonal_slice + threadIdx.x % warp;
    std::int32_t entry[lane_rows];
    std::int32_t end[lane_rows];
    for (int r = 0; r < lane_rows; ++r) {
        std::int32_t const row = first_row + r * warp;
        entry[r] = row < a.rows ? a.row_ptr[row] : 0;
        end[r] = row < a.rows ? a.row_ptr[row + 1] : 0;
    }
    for (int steps = 0;; ++steps) {
        int offset[lane_rows];
        int nearest = none;
        for (int r = 0; r < lane_rows; ++r) {
            offset[r] = entry[r] < end[r] ? a.col[entry[r]] - (first_row + r * warp) : none;
            nearest = min(nearest, offset[r]);
        }
        nearest = smallest_of_warp(nearest);
        if (nearest == none || steps == most_steps) {
            return steps;
        }
        DiagonalMask mask;
        for (int r = 0; r < lane_rows; ++r) {
            mask.lanes[r] = __ballot_sync(all_lanes, offset[r] == nearest);
        }
        visit(steps, nearest, mask, entry);
        for (int r = 0; r < lane_rows; ++r) {
            entry[r] += offset[r] == nearest ? 1 : 0;
        }
    }
}

/// How many steps a slice has, -1 if far too many, and a hash of them.
struct alignas(16) SliceSteps
{
    std::uint64_t hash;
    std::int64_t steps;
};

__device__ std::uint64_t mixed(std::uint64_t hash, std::uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

template <class T>
__global__ void count_steps(CsrView<T> a, std::int32_t slices, std::uint64_t seed,
                            SliceSteps* found)
{
    auto const slice = static_cast<std::int32_t>(global_thread() / warp);
    if (slice >= slices) {
        return;
    }
    // Far too many steps are not counted to the end: that would take a full row a long time.
    std::int32_t const first_row = slice * diagonal_slice;
    std::int32_t const last_row = min(first_row + diagonal_slice, a.rows);
    int const entries = a.row_ptr[last_row] - a.row_ptr[first_row];
    int const most_steps = most_diagonal_fill * (entries / diagonal_slice) + 1024;
    std::uint64_t hash = seed;
    int const steps = for_each_step(a, slice, most_steps,
                                    [&](int, int offset, DiagonalMask const& mask, auto const&) {
                                        hash = mixed(hash, static_cast<std::uint32_t>(offset));
                                        for (auto const lanes : mask.lanes) {
                                            hash = mixed(hash, lanes);
                                        }
                                    });
    if (threadIdx.x % warp == 0) {
        found[slice] = {mixed(hash, static_cast<std::uint64_t>(steps)),
                        steps == most_steps ? -1 : steps};
    }
}

/// Writes each pattern: `slice_of` is the first slice that has it.
template <class T>
__global__ void fill_patterns(CsrView<T> a, std::int32_t patterns, std::int32_t const* slice_of,
                              std::int32_t const* pattern_begin, std::int32_t* offsets,
                              DiagonalMask* masks)
{
    auto const pattern = static_cast<std::int32_t>(global_thread() / warp);
    if (pattern >= patterns) {
        return;
    }
    for_each_step(a, slice_of[pattern], every_step,
                  [&](int step, int offset, DiagonalMask const& mask, auto const&) {
                      if (threadIdx.x % warp == 0) {
                          offsets[pattern_begin[pattern] + step] = offset;
                          masks[pattern_begin[pattern] + step] = mask;
                      }
                  });
}

/// Writes the values of each slice; says in `differs` if it has not the steps of its pattern, which
/// means that two patterns have the same hash.
template <class T>
__global__ void fill_values(CsrView<T> a, DiagonalsView<T> format, T* values, int* differs)
{
    auto const slice = static_cast<std::int32_t>(global_thread() / warp);
    int const lane = threadIdx.x % warp;
    if (slice >= format.slices) {
        return;
    }
    std::int32_t const pattern = format.pattern[slice];
    std::int32_t const begin = format.pattern_begin[pattern];
    std::int32_t const count = format.pattern_begin[pattern + 1] - begin;
    T* const to = values + format.value_begin[slice] + lane;
    auto const visit = [&](int step, int offset, DiagonalMask const& mask,
                           std::int32_t const* entry) {
        bool same = step < count && format.offset[begin + step] == offset;
        for (int r = 0; same && r < lane_rows; ++r) {
            same = format.mask[begin + step].lanes[r] == mask.lanes[r];
        }
        if (!same) {
            *differs = 1;
            return;
        }
        for (int r = 0; r < lane_rows; ++r) {
            to[std::int64_t{step} * diagonal_slice + r * warp] =
                mask.lanes[r] >> lane & 1 ? a.values[entry[r]] : T{0};
        }
    };
    if (for_each_step(a, slice, every_step, visit) != count) {
        *differs = 1;
    }
}

/// Blocks of a launch with one warp for each of `count`.
unsigned blocks_for(std::int64_t count)
{
    return static_cast<unsigned>(ceil_div(count * warp, kernel_threads));
}

template <class T>
std::vector<SliceSteps> steps_of_slices(CsrView<T> const& a, std::int32_t slices,
                                        std::uint64_t seed, cudaStream_t stream)
{
    ::cuda::Buffer<SliceSteps> found(static_cast<std::size_t>(slices));
    count_steps<<<blocks_for(slices), kernel_threads, 0, stream>>>(a, slices, seed, found.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    return found.download();
}

/// Uploads an array that was made on the host.
template <class T>
::cuda::Buffer<T> uploaded(std::vector<T> const& host)
{
    return ::cuda::Buffer<T>{std::span<T const>{host}};
}

} // namespace

template <class T>
std::int64_t diagonal_elements(CsrView<T> const& a, cudaStream_t stream)
{
    auto const slices = static_cast<std::int32_t>(ceil_div(a.rows, diagonal_slice));
    std::int64_t elements = 0;
    if (slices > 0) {
        for (auto const& slice : steps_of_slices(a, slices, 1, stream)) {
            if (slice.steps < 0) {
                return std::numeric_limits<std::int64_t>::max();
            }
            elements += slice.steps * diagonal_slice;
        }
    }
    return elements;
}

template std::int64_t diagonal_elements(CsrView<float> const&, cudaStream_t);
template std::int64_t diagonal_elements(CsrView<double> const&, cudaStream_t);

template <class T>
Diagonals<T>::Diagonals(CsrView<T> const& a, cudaStream_t stream)
    : rows_{a.rows}, slices_{static_cast<std::int32_t>(ceil_div(a.rows, diagonal_slice))},
      pattern_(0), value_begin_(0), pattern_begin_(1), offset_(0), mask_(0), values_(0)
{
    for (std::uint64_t seed = 1; slices_ > 0; ++seed) { // anew if two patterns have the same hash
        std::vector<std::int32_t> pattern;
        std::vector<std::int32_t> slice_of;
        std::vector<std::int32_t> pattern_begin{0};
        std::vector<std::int64_t> value_begin;
        std::unordered_map<std::uint64_t, std::int32_t> known;
        std::int64_t elements = 0;
        for (auto const& [hash, steps] : steps_of_slices(a, slices_, seed, stream)) {
            if (steps < 0) {
                throw std::length_error{"diagonals: a slice of rows has hardly any in common"};
            }
            auto const count = static_cast<std::int32_t>(slice_of.size());
            auto const [place, is_new] = known.try_emplace(hash, count);
            if (is_new) {
                slice_of.push_back(static_cast<std::int32_t>(pattern.size()));
                pattern_begin.push_back(pattern_begin.back() + steps);
            }
            pattern.push_back(place->second);
            value_begin.push_back(elements);
            elements += std::int64_t{steps} * diagonal_slice;
        }
        if (elements > 2 * std::int64_t{a.nonzeros} + diagonal_slice) {
            throw std::length_error{"diagonals: they would store more than twice the nonzeros"};
        }
        pattern_ = uploaded(pattern);
        value_begin_ = uploaded(value_begin);
        pattern_begin_ = uploaded(pattern_begin);
        auto const slices_of = uploaded(slice_of);
        offset_ = ::cuda::Buffer<std::int32_t>(static_cast<std::size_t>(pattern_begin.back()));
        mask_ = ::cuda::Buffer<DiagonalMask>(offset_.size());
        values_ = ::cuda::Buffer<T>(static_cast<std::size_t>(elements));
        ::cuda::Buffer<int> differs(1);
        ::cuda::check(cudaMemsetAsync(differs.data(), 0, differs.bytes(), stream));
        auto const patterns = static_cast<std::int32_t>(slice_of.size());
        fill_patterns<<<blocks_for(patterns), kernel_threads, 0, stream>>>(
            a, patterns, slices_of.data(), pattern_begin_.data(), offset_.data(), mask_.data());
        ::cuda::check_launch();
        fill_values<<<blocks_for(slices_), kernel_threads, 0, stream>>>(a, view(), values_.data(),
                                                                        differs.data());
        ::cuda::check_launch();
        ::cuda::check(cudaStreamSynchronize(stream));
        if (differs.download().front() == 0) {
            return;
        }
    }
}

template <class T>
DiagonalsView<T> Diagonals<T>::view() const
{
    return {
        rows_,          slices_,      pattern_.data(), value_begin_.data(), pattern_begin_.data(),
        offset_.data(), mask_.data(), values_.data()};
}

template <class T>
void Diagonals<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    if (slices_ > 0) {
        diagonals_kernel<<<blocks_for(slices_), kernel_threads, 0, stream>>>(view(), x, y);
        ::cuda::check_launch();
    }
}

template <class T>
std::size_t Diagonals<T>::bytes() const
{
    return pattern_.bytes() + value_begin_.bytes() + pattern_begin_.bytes() + offset_.bytes() +
           mask_.bytes() + values_.bytes();
}

template class Diagonals<float>;
template class Diagonals<double>;

} // namespace spmv::gpu
