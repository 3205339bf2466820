#pragma once

#include "dense/gpu/softmax_kernels.cuh"

#include <type_traits>

/// \file
/// Softmax with the rows in registers, for the one file that launches it.

namespace dense::gpu {

namespace {

/// One number made of those of lanes that lie up to `width` apart.
template <int width, class S, class Operation>
__device__ S over_lanes(S own, Operation operation)
{
#pragma unroll
    for (int distance = width / 2; distance > 0; distance /= 2) {
        own = operation(own, __shfl_xor_sync(~0u, own, distance));
    }
    return own;
}

/// Merges what lanes that lie up to `width` apart have found: first the maximum, so that each lane
/// takes one exponential and not two a step.
template <int width, class S>
__device__ Online<S> merged_over_lanes(Online<S> own)
{
    S const largest = over_lanes<width>(own.largest, Larger{});
    if (own.largest != lowest<S>) { // who has nothing but -infinity adds nothing, or a NaN
        own.sum *= exponential(own.largest - largest);
    }
    return {largest, over_lanes<width>(own.sum, Added{})};
}

/// Tells the other blocks of the cluster that this one has begun.
__device__ inline void announce(int blocks)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (blocks > 1) {
        asm volatile("barrier.cluster.arrive.relaxed.aligned;");
    }
#endif
}

/// What all blocks of a cluster have found, each `of_block`; a block alone where `blocks` is 1.
/// After `announce`, as the memory of a block exists only from when it has begun.
template <class S>
__device__ Online<S> merged_over_cluster(Online<S> of_block, int blocks)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (blocks > 1) {
        asm volatile("barrier.cluster.wait.aligned;");
        __shared__ Online<S> found[32];
        auto const cluster = cooperative_groups::this_cluster();
        if (threadIdx.x < blocks) {
            cluster.map_shared_rank(found, threadIdx.x)[cluster.block_rank()] = of_block;
        }
        cluster.sync();
        int const lane = threadIdx.x % 32;
        of_block = merged_over_lanes<32>(lane < blocks ? found[lane] : Online<S>{lowest<S>, 0});
    }
#endif
    return of_block;
}

/// The largest element of 16 bytes; of halves two at a time.
template <class T>
__device__ T largest_of(Elements<T, 16 / sizeof(T)> const& pack)
{
    T largest = pack.value[0];
#pragma unroll
    for (int i = 1; i < 16 / sizeof(T); ++i) {
        largest = fmax(largest, pack.value[i]);
    }
    return largest;
}
__device__ float largest_of(Elements<base::fp16, 8> const& pack)
{
    auto const& two = reinterpret_cast<__half2 const(&)[4]>(pack);
    __half2 const largest = __hmax2(__hmax2(two[0], two[1]), __hmax2(two[2], two[3]));
    return fmax(__low2float(largest), __high2float(largest));
}
__device__ float largest_of(Elements<base::bf16, 8> const& pack)
{
    auto const& two = reinterpret_cast<__nv_bfloat162 const(&)[4]>(pack);
    __nv_bfloat162 const largest = __hmax2(__hmax2(two[0], two[1]), __hmax2(two[2], two[3]));
    return fmax(__low2float(largest), __high2float(largest));
}

/// Threads of a block that gives `group` threads to a row.
template <int group>
constexpr int threads_for = group <= 32 ? 256 : group;

/// Blocks that a multiprocessor is to hold at once: 1536 threads with 40 registers each, or 1024
/// with 64 where 40 do not suffice.
template <class T, int group, int packs>
constexpr int resident_for = (std::is_same_v<T, double> || packs > 4 || (packs == 4 && group <= 32)
                                  ? 1024
                                  : 1536) /
                             threads_for<group>;

//! [registers]
/// Each thread keeps `packs` packs of 16 bytes of a row in registers, so that memory is read once.
/// A row has `group` threads: some lanes of a warp, a block, or the blocks of a cluster. Packs stay
/// as they came until all loads are on their way: nothing may wait for the first one. The warps of
/// a row take exponentials without their own maximum; what others have found comes in as one
/// factor. Of halves exponentials are taken twice, as floats would need twice the registers. Rows
/// need not begin at multiples of 16 bytes: of the first and last pack of a row only what belongs
/// to it is touched.
template <class T, int group, int packs>
__global__ void __launch_bounds__(threads_for<group>, resident_for<T, group, packs>)
    row_in_registers(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                     int blocks)
{
    using S = Sum<T>;
    constexpr int wide = 16 / sizeof(T);
    using Wide = Elements<T, wide>;
    constexpr bool keeps_powers = std::is_same_v<T, S>;
    announce(blocks);
    std::int64_t const row =
        std::int64_t{blockIdx.x / blocks} * (threads_for<group> / group) + threadIdx.x / group;
    T const* const from = x + row * columns;
    T* const to = y + row * columns;
    int const count = row < rows ? static_cast<int>(columns) : 0; // shuffles want all lanes
    int const before = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % 16 / sizeof(T));
    int const part = static_cast<int>(blockIdx.x % blocks) * packs * group;
    int const first = (part + static_cast<int>(threadIdx.x % group)) * wide - before;
    auto const column = [=](int p) { return first + p * group * wide; };
    auto const is_whole = [=](int p) { return column(p) >= 0 && column(p) + wide <= count; };
    Wide kept[packs];
#pragma unroll
    for (int p = 0; p < packs; ++p) {
        if (is_whole(p)) {
            auto const bits = __ldcs(reinterpret_cast<uint4 const*>(from + column(p)));
            kept[p] = __builtin_bit_cast(Wide, bits);
        } else {
#pragma unroll
            for (int i = 0; i < wide; ++i) {
                narrow(lowest<S>, kept[p].value[i]);
                if (column(p) + i >= 0 && column(p) + i < count) {
                    kept[p].value[i] = from[column(p) + i];
                }
            }
        }
    }
    S largest = lowest<S>;
#pragma unroll
    for (int p = 0; p < packs; ++p) {
        largest = fmax(largest, largest_of(kept[p]));
    }
    largest = over_lanes<(group < 32 ? group : 32)>(largest, Larger{});
    S const base = largest == lowest<S> ? S{0} : largest;
    S sum = 0;
#pragma unroll
    for (int p = 0; p < packs; ++p) {
#pragma unroll
        for (int i = 0; i < wide; ++i) {
            S const power = exponential(widened(kept[p].value[i]) - base);
            sum += power;
            if constexpr (keeps_powers) {
                kept[p].value[i] = what == Softmax::probabilities ? power : S{kept[p].value[i]};
            }
        }
    }
    Online<S> whole{largest, over_lanes<(group < 32 ? group : 32)>(sum, Added{})};
    S factor = 1 / whole.sum;
    if constexpr (group > 32) {
        constexpr int warps = group / 32;
        __shared__ Online<S> of_warp[warps];
        if (threadIdx.x % 32 == 0) {
            of_warp[threadIdx.x / 32] = whole;
        }
        __syncthreads();
        whole = merged_over_lanes<warps>(of_warp[threadIdx.x % warps]);
        whole = merged_over_cluster(whole, blocks);
        factor = exponential(largest - whole.largest) / whole.sum;
    }
    auto const store = [&](auto result_of_element) {
#pragma unroll
        for (int p = 0; p < packs; ++p) {
            Wide made;
#pragma unroll
            for (int i = 0; i < wide; ++i) {
                narrow(result_of_element(widened(kept[p].value[i])), made.value[i]);
            }
            if (is_whole(p)) {
                __stcs(reinterpret_cast<uint4*>(to + column(p)), __builtin_bit_cast(uint4, made));
            } else {
#pragma unroll
                for (int i = 0; i < wide; ++i) {
                    if (column(p) + i >= 0 && column(p) + i < count) {
                        to[column(p) + i] = made.value[i];
                    }
                }
            }
        }
    };
    if (what == Softmax::probabilities) {
        store([=](S element) {
            return (keeps_powers ? element : exponential(element - base)) * factor;
        });
    } else {
        S const of_sum = logarithm(whole.sum);
        store([=](S element) { return element - whole.largest - of_sum; });
    }
}
//! [registers]

} // namespace
} // namespace dense::gpu
