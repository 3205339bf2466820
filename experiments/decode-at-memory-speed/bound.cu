#include "bound.hpp"

#include "ceilings/device_sum.cuh"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/hopper.cuh"
#include "dense/gpu/tile.cuh"

namespace decode {

namespace {

using dense::gpu::ceil_div;

constexpr unsigned threads = 256;
constexpr int packs = tile_bytes / 16;
constexpr int packs_of_thread = packs / threads;
constexpr unsigned resident = 8; ///< blocks of a multiprocessor by wide loads

__device__ std::uint32_t sum_of(uint4 v)
{
    return v.x + v.y + (v.z + v.w);
}

//! [read_wide]
/// Each thread has four loads of 16 bytes under way.
__global__ void __launch_bounds__(threads)
    wide(uint4 const* from, std::int64_t tiles, std::int32_t* sums)
{
    std::uint32_t sum = 0;
    for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint4 pack[packs_of_thread];
#pragma unroll
        for (int i = 0; i < packs_of_thread; ++i) {
            pack[i] = __ldcs(from + tile * packs + i * threads + threadIdx.x);
        }
#pragma unroll
        for (int i = 0; i < packs_of_thread; ++i) {
            sum += sum_of(pack[i]);
        }
    }
    sum = ceilings::block_sum<threads>(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = static_cast<std::int32_t>(sum);
    }
}
//! [read_wide]

constexpr int stages = 12; ///< tiles of a multiprocessor that are under way

struct Ring
{
    uint4 tile[stages][packs];
    dense::gpu::Barrier full[stages];
    dense::gpu::Barrier empty[stages];
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
//! [read_bulk]
/// One thread tells the copy engine of the next tiles, the others add up those that have come.
__global__ void __launch_bounds__(threads + 32)
    bulk(uint4 const* from, std::int64_t tiles, std::int32_t* sums)
{
    auto& ring = dense::gpu::shared_layout<Ring>(); // bulk copies to whole lines are faster
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) {
            ring.full[s].init(1);
            ring.empty[s].init(threads / 32);
        }
        dense::gpu::publish_barriers();
    }
    __syncthreads();
    dense::gpu::Turn<stages> turn;
    std::uint32_t sum = 0;
    if (threadIdx.x == threads) {
        for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++turn) {
            auto& full = ring.full[turn.stage];
            ring.empty[turn.stage].wait(turn.parity ^ 1);
            full.expect(tile_bytes);
            dense::gpu::load_bytes(ring.tile[turn.stage], from + tile * packs, tile_bytes, full);
        }
    } else if (threadIdx.x < threads) {
        for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++turn) {
            ring.full[turn.stage].wait(turn.parity);
#pragma unroll
            for (int i = 0; i < packs_of_thread; ++i) {
                sum += sum_of(ring.tile[turn.stage][i * threads + threadIdx.x]);
            }
            __syncwarp();
            if (threadIdx.x % 32 == 0) {
                ring.empty[turn.stage].arrive();
            }
        }
    }
    sum = ceilings::block_sum<threads + 32>(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = static_cast<std::int32_t>(sum);
    }
}
//! [read_bulk]
#else
/// `refuses_bulk` keeps older GPUs from here.
__global__ void bulk(uint4 const*, std::int64_t, std::int32_t*)
{
    __trap();
}
#endif

std::int64_t tiles_in(std::span<std::byte const> bytes)
{
    return static_cast<std::int64_t>(bytes.size() / tile_bytes);
}

} // namespace

std::size_t wide_blocks()
{
    return std::size_t{resident} * cuda::multiprocessors();
}

std::size_t bulk_blocks()
{
    return cuda::multiprocessors();
}

void read_wide(std::span<std::byte const> bytes, std::span<std::int32_t> sums,
               cuda::Stream const& stream)
{
    wide<<<static_cast<unsigned>(sums.size()), threads, 0, stream.get()>>>(
        reinterpret_cast<uint4 const*>(bytes.data()), tiles_in(bytes), sums.data());
    cuda::check_launch();
}

void read_bulk(std::span<std::byte const> bytes, std::span<std::int32_t> sums,
               cuda::Stream const& stream)
{
    cuda::check(cudaFuncSetAttribute(bulk, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(sizeof(Ring))));
    bulk<<<static_cast<unsigned>(sums.size()), threads + 32, sizeof(Ring), stream.get()>>>(
        reinterpret_cast<uint4 const*>(bytes.data()), tiles_in(bytes), sums.data());
    cuda::check_launch();
}

std::string_view refuses_bulk()
{
    return dense::gpu::refusal_before(90, "this GPU has no copy engine for bytes");
}

} // namespace decode
