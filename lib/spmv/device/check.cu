#include "spmv/device/check.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace spmv::gpu {

namespace {

constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

/// What was found in the arrays of a matrix.
struct Found
{
    std::int32_t row = none;          ///< the first whose offsets fall or lie outside
    std::int32_t entry = none;        ///< the first whose column there is not
    unsigned long long falls = 0;     ///< of columns, from one entry to the next
    unsigned long long between = 0;   ///< of these from the last of a row to the first of another
    std::int32_t first = 0, last = 0; ///< offsets
};

template <class T>
__global__ void look(CsrView<T> a, Found* found)
{
    std::int64_t const i = global_thread();
    bool between = false;
    bool falls = false;
    if (i < a.rows) {
        std::int32_t const begin = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        if (begin < 0 || end < begin || end > a.nonzeros) {
            atomicMin(&found->row, static_cast<std::int32_t>(i));
        } else {
            between = 0 < begin && begin < end && a.col[begin] <= a.col[begin - 1];
        }
    }
    if (i < a.nonzeros) {
        if (a.col[i] < 0 || a.col[i] >= a.columns) {
            atomicMin(&found->entry, static_cast<std::int32_t>(i));
        }
        falls = i > 0 && a.col[i] <= a.col[i - 1];
    }
    int const falls_of_warp = __popc(__ballot_sync(all_lanes, falls));
    int const between_of_warp = __popc(__ballot_sync(all_lanes, between));
    if (threadIdx.x % warp == 0 && falls_of_warp + between_of_warp > 0) {
        atomicAdd(&found->falls, falls_of_warp);
        atomicAdd(&found->between, between_of_warp);
    }
    if (i == 0) {
        found->first = a.row_ptr[0];
        found->last = a.row_ptr[a.rows];
    }
}

[[noreturn]] void refuse(std::string const& found, std::string const& expected)
{
    throw std::invalid_argument{"CSR on a GPU: found " + found + ", expected " + expected};
}

std::int32_t downloaded(std::int32_t const* from)
{
    std::int32_t value = 0;
    ::cuda::copy_to_host(&value, from, sizeof value);
    return value;
}

/// What takes no look at the device.
template <class T>
void check_view(CsrView<T> const& a)
{
    using std::to_string;
    if (a.rows < 0 || a.columns < 0 || a.nonzeros < 0) {
        refuse(to_string(a.rows) + " rows, " + to_string(a.columns) + " columns and " +
                   to_string(a.nonzeros) + " nonzeros",
               "none below 0");
    }
    if (std::max(a.rows, a.nonzeros) > most_nonzeros) {
        refuse(to_string(std::max(a.rows, a.nonzeros)) + " rows or nonzeros",
               "at most " + to_string(most_nonzeros));
    }
    auto const is_array = [](void const* array) {
        return array != nullptr && reinterpret_cast<std::uintptr_t>(array) % 16 == 0;
    };
    if (a.row_ptr == nullptr || (a.nonzeros > 0 && (!is_array(a.col) || !is_array(a.values)))) {
        refuse("a null pointer, or columns or values on no boundary of 16 bytes", "arrays");
    }
}

} // namespace

template <class T>
void check(CsrView<T> const& a, cudaStream_t stream)
{
    using std::to_string;
    check_view(a);
    Found found;
    ::cuda::Buffer<Found> on_device{std::span<Found const>{&found, 1}};
    std::int64_t const threads = std::max({a.rows, a.nonzeros, 1});
    look<<<static_cast<unsigned>(ceil_div(threads, 256)), 256, 0, stream>>>(a, on_device.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    found = on_device.download().front();
    if (found.first != 0 || found.last != a.nonzeros) {
        refuse("row offsets from " + to_string(found.first) + " to " + to_string(found.last),
               "0 to " + to_string(a.nonzeros) + ", the number of nonzeros");
    }
    if (found.row != none) {
        refuse("row " + to_string(found.row) + " from entry " +
                   to_string(downloaded(a.row_ptr + found.row)) + " to " +
                   to_string(downloaded(a.row_ptr + found.row + 1)),
               "offsets that never fall");
    }
    if (found.entry != none) {
        refuse("column " + to_string(downloaded(a.col + found.entry)) + " in entry " +
                   to_string(found.entry),
               "one of the " + to_string(a.columns) + " from 0 on");
    }
    if (found.falls != found.between) {
        refuse("rows whose columns do not ascend, " + to_string(found.falls - found.between) +
                   " times",
               "sorted rows, as a `Csr` of a matrix on the host has them");
    }
}

template void check(CsrView<float> const&, cudaStream_t);
template void check(CsrView<double> const&, cudaStream_t);

} // namespace spmv::gpu
