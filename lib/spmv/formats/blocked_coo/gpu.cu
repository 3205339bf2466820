#include "spmv/formats/blocked_coo/gpu.hpp"

#include "spmv/device/threads.cuh"
#include "spmv/formats/row_sums.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <algorithm>
#include <vector>

namespace spmv::gpu {

namespace {

constexpr int coo_threads = 1024;
constexpr int coo_blocks = 1;  ///< on a multiprocessor
constexpr int coo_chunk = 128; ///< entries of a warp's load: four for each lane

//! [gpu_blocked_coo]
/// Entries of a lane: their rows in the tile, their columns from `base` on.
template <class T>
struct CooPack
{
    Pack<std::uint16_t, 4> col;
    Pack<std::uint16_t, 4> row;
    Pack<T, 4> values;
    int base;
};

template <class T>
__device__ CooPack<T> load_chunk(BlockedCooView<T> const& a, int chunk, int lane)
{
    int const from = chunk * coo_chunk + lane * 4;
    return {load_once<4>(a.col + from), load_once<4>(a.row + from), load_once<4>(a.values + from),
            a.base[chunk]};
}

template <class T>
__global__ __launch_bounds__(coo_threads,
                             coo_blocks) void blocked_coo_kernel(BlockedCooView<T> a, int capacity,
                                                                 T const* __restrict__ x,
                                                                 T* __restrict__ y)
{
    extern __shared__ unsigned char memory[];
    int const first = a.first_row[blockIdx.x];
    int const rows = a.first_row[blockIdx.x + 1] - first;
    RowSums<T, coo_threads> sums{reinterpret_cast<T*>(memory), capacity, rows};
    constexpr int stride = coo_threads / warp;
    int const end = a.first_chunk[blockIdx.x + 1];
    int const lane = threadIdx.x % warp;
    int chunk = a.first_chunk[blockIdx.x] + static_cast<int>(threadIdx.x) / warp;
    CooPack<T> next{};
    if (chunk < end) {
        next = load_chunk(a, chunk, lane);
    }
    for (; chunk < end; chunk += stride) {
        CooPack<T> const entries = next;
        T element[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            element[j] = __ldg(x + entries.base + entries.col.element[j]);
        }
        // Under way before the first addition: those are loops that nothing can pass.
        if (chunk + stride < end) {
            next = load_chunk(a, chunk + stride, lane);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            sums.add(entries.row.element[j], entries.values.element[j] * element[j]);
        }
    }
    sums.write(y + first);
}
//! [gpu_blocked_coo]

/// As many tiles as blocks are resident: the taller a tile, the more rows share what is loaded of
/// `x`.
template <class T>
EntryBlocksShape shape()
{
    constexpr std::size_t reserved = 1024; // bytes of each block that are not its own
    auto const bytes = (::cuda::shared_bytes() + reserved) / coo_blocks - reserved;
    auto const rows = static_cast<std::int32_t>(bytes / sizeof(T)) - 1;
    return {.tiles = coo_blocks * static_cast<std::int32_t>(::cuda::multiprocessors()),
            .most_rows = std::min(rows, 65535),
            .strip_columns = 65536,
            .by_strip = false,
            .chunk = coo_chunk};
}

} // namespace

template <class T>
BlockedCoo<T>::BlockedCoo(CsrView<T> const& a, cudaStream_t stream)
    : blocks_{a, shape<T>(), stream}, first_chunk_(static_cast<std::size_t>(blocks_.tiles) + 1),
      base_(static_cast<std::size_t>(blocks_.begin_host.back() / coo_chunk))
{
    std::vector<std::int32_t> first_chunk;
    std::vector<std::int32_t> base;
    base.reserve(base_.size());
    for (std::size_t block = 0; block < blocks_.begin_host.size(); ++block) {
        auto const strip = static_cast<std::int32_t>(block % static_cast<unsigned>(blocks_.strips));
        auto const end = static_cast<std::size_t>(blocks_.begin_host[block] / coo_chunk);
        if (block > 0) {
            auto const before = (strip + blocks_.strips - 1) % blocks_.strips;
            base.resize(end, before * 65536);
        }
        if (strip == 0) {
            first_chunk.push_back(static_cast<std::int32_t>(end));
        }
    }
    first_chunk_.upload(first_chunk);
    base_.upload(base);
    ::cuda::check(cudaFuncSetAttribute(blocked_coo_kernel<T>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(::cuda::shared_bytes())));
}

template <class T>
void BlockedCoo<T>::operator()(T const* x, T* y, cudaStream_t stream) const
{
    BlockedCooView<T> const a{blocks_.first_row.data(), first_chunk_.data(), base_.data(),
                              blocks_.row.data(),       blocks_.col.data(),  blocks_.values.data()};
    auto const capacity = blocks_.room_for_sums(least_row_sums);
    blocked_coo_kernel<<<static_cast<unsigned>(blocks_.tiles), coo_threads, capacity * sizeof(T),
                         stream>>>(a, static_cast<int>(capacity), x, y);
    ::cuda::check_launch();
}

template <class T>
std::size_t BlockedCoo<T>::bytes() const
{
    return blocks_.bytes() + first_chunk_.bytes() + base_.bytes();
}

template class BlockedCoo<float>;
template class BlockedCoo<double>;

} // namespace spmv::gpu
