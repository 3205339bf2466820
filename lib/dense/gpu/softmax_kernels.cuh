#pragma once

#include "dense/gpu/softmax.hpp"
#include "dense/gpu/tile.cuh"

#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <limits>
#include <type_traits>

/// \file
/// The kernels of softmax, for the one file that launches them.

namespace dense::gpu {

namespace {

// --- types ---------------------------------------------------------------------------------------

/// What sums of `T` are made in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

__device__ float widened(float value)
{
    return value;
}
__device__ double widened(double value)
{
    return value;
}
__device__ float widened(base::fp16 value)
{
    return __half2float(__ushort_as_half(value.bits));
}
__device__ float widened(base::bf16 value)
{
    return __bfloat162float(__ushort_as_bfloat16(value.bits));
}

__device__ void narrow(float value, float& to)
{
    to = value;
}
__device__ void narrow(double value, double& to)
{
    to = value;
}
__device__ void narrow(float value, base::fp16& to)
{
    to.bits = __half_as_ushort(__float2half_rn(value));
}
__device__ void narrow(float value, base::bf16& to)
{
    to.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

__device__ float exponential(float value)
{
    return __expf(value);
}
__device__ double exponential(double value)
{
    return exp(value);
}
__device__ float logarithm(float value)
{
    return logf(value);
}
__device__ double logarithm(double value)
{
    return log(value);
}

template <class T>
constexpr T lowest = -std::numeric_limits<T>::infinity();

struct Larger
{
    template <class T>
    __device__ T operator()(T a, T b) const
    {
        return fmax(a, b);
    }
};

struct Added
{
    template <class T>
    __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

// --- load and store functors ---------------------------------------------------------------------

template <class T, int count>
struct alignas(sizeof(T) * count) Elements
{
    T value[count];
};

/// Reads packs of elements of a matrix in memory.
template <class T>
struct Load
{
    T const* from;
    std::int64_t columns;

    template <int count>
    __device__ void operator()(Sum<T>* to, std::int64_t row, std::int64_t column) const
    {
        auto const pack =
            *reinterpret_cast<Elements<T, count> const*>(from + row * columns + column);
#pragma unroll
        for (int i = 0; i < count; ++i) {
            to[i] = widened(pack.value[i]);
        }
    }
};

/// Writes packs of elements of a matrix in memory.
template <class T>
struct Store
{
    T* to;
    std::int64_t columns;

    template <int count>
    __device__ void operator()(Sum<T> const* from, std::int64_t row, std::int64_t column) const
    {
        Elements<T, count> pack;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            narrow(from[i], pack.value[i]);
        }
        *reinterpret_cast<Elements<T, count>*>(to + row * columns + column) = pack;
    }
};

template <class S>
__device__ S result_of(Softmax what, S shifted, S sum)
{
    return what == Softmax::probabilities ? exponential(shifted) / sum : shifted - logarithm(sum);
}

/// The reduction over a block, for all of its threads.
template <int threads, class S, class Operation>
__device__ S reduced(S value, Operation operation)
{
    using Reduce = cub::BlockReduce<S, threads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ S result;
    S const of_block = Reduce{storage}.Reduce(value, operation);
    if (threadIdx.x == 0) {
        result = of_block;
    }
    __syncthreads();
    S const found = result;
    __syncthreads(); // before the next reduction
    return found;
}

// --- a warp for each row -------------------------------------------------------------------------

//! [warp]
/// Each lane keeps every 32nd element of the row in registers; shuffles make maximum and sum.
template <class T, int of_lane>
__global__ void warp_per_row(Softmax what, Load<T> load, Store<T> store, std::int64_t rows,
                             int columns)
{
    int const lane = threadIdx.x % 32;
    std::int64_t const step = std::int64_t{gridDim.x} * blockDim.x / 32;
    for (std::int64_t row = (blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x) / 32; row < rows;
         row += step) {
        Sum<T> value[of_lane];
        Sum<T> largest = lowest<Sum<T>>;
#pragma unroll
        for (int i = 0; i < of_lane; ++i) {
            int const column = i * 32 + lane;
            value[i] = lowest<Sum<T>>;
            if (column < columns) {
                load.template operator()<1>(&value[i], row, column);
            }
            largest = fmax(largest, value[i]);
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
        }
        Sum<T> sum = 0;
#pragma unroll
        for (int i = 0; i < of_lane; ++i) {
            value[i] -= largest;
            sum += i * 32 + lane < columns ? exponential(value[i]) : Sum<T>{0};
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        }
#pragma unroll
        for (int i = 0; i < of_lane; ++i) {
            int const column = i * 32 + lane;
            if (column < columns) {
                Sum<T> const made = result_of(what, value[i], sum);
                store.template operator()<1>(&made, row, column);
            }
        }
    }
}
//! [warp]

// --- a block for each row ------------------------------------------------------------------------

/// Where the elements of a pack lie in shared memory.
enum class Layout
{
    columns,  ///< element i of all packs together: neighbouring threads write to neighbouring banks
    adjacent, ///< side by side, where the compiler makes one wide access of them
    adjacent_scalar, ///< side by side, each by an access of its own
    chunks ///< as in columns, but each thread takes packs that follow each other in the row
};

//! [block_shared]
/// The row lies in shared memory.
template <class T, int pack, int threads, Layout layout = Layout::columns>
__global__ void __launch_bounds__(threads)
    block_shared(Softmax what, Load<T> load, Store<T> store, std::int64_t rows, int columns)
{
    using S = Sum<T>;
    using Place = std::conditional_t<layout == Layout::adjacent_scalar, S volatile, S>;
    Place* const kept = shared_memory<S>();
    int const packs = columns / pack;
    constexpr bool in_columns = layout == Layout::columns || layout == Layout::chunks;
    auto const place = [&](int p, int i) { return in_columns ? i * packs + p : p * pack + i; };
    int const share = (packs + threads - 1) / threads;
    auto const taken = [&](int n) {
        return static_cast<int>(layout == Layout::chunks ? threadIdx.x * share + n
                                                         : threadIdx.x + n * threads);
    };
    for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        S largest = lowest<S>;
        for (int n = 0; n < share; ++n) {
            int const p = taken(n);
            if (p >= packs) {
                break;
            }
            S value[pack];
            load.template operator()<pack>(value, row, std::int64_t{p} * pack);
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                kept[place(p, i)] = value[i];
                largest = fmax(largest, value[i]);
            }
        }
        largest = reduced<threads>(largest, Larger{});
        S sum = 0;
        for (int i = threadIdx.x; i < columns; i += threads) {
            S const shifted = kept[i] - largest;
            S const power = exponential(shifted);
            kept[i] = what == Softmax::probabilities ? power : shifted;
            sum += power;
        }
        sum = reduced<threads>(sum, Added{});
        for (int n = 0; n < share; ++n) {
            int const p = taken(n);
            if (p >= packs) {
                break;
            }
            S value[pack];
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                S const at = kept[place(p, i)];
                value[i] = what == Softmax::probabilities ? at / sum : at - logarithm(sum);
            }
            store.template operator()<pack>(value, row, std::int64_t{p} * pack);
        }
        __syncthreads(); // before the next row
    }
}
//! [block_shared]

//! [block_uncached]
/// The row is read from memory three times, so it may be of any length.
template <class T, int pack, int threads>
__global__ void __launch_bounds__(threads)
    block_uncached(Softmax what, Load<T> load, Store<T> store, std::int64_t rows,
                   std::int64_t columns)
{
    using S = Sum<T>;
    std::int64_t const packs = columns / pack;
    for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        S largest = lowest<S>;
        for (std::int64_t p = threadIdx.x; p < packs; p += threads) {
            S value[pack];
            load.template operator()<pack>(value, row, p * pack);
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                largest = fmax(largest, value[i]);
            }
        }
        largest = reduced<threads>(largest, Larger{});
        S sum = 0;
        for (std::int64_t p = threadIdx.x; p < packs; p += threads) {
            S value[pack];
            load.template operator()<pack>(value, row, p * pack);
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                sum += exponential(value[i] - largest);
            }
        }
        sum = reduced<threads>(sum, Added{});
        for (std::int64_t p = threadIdx.x; p < packs; p += threads) {
            S value[pack];
            load.template operator()<pack>(value, row, p * pack);
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                value[i] = result_of(what, value[i] - largest, sum);
            }
            store.template operator()<pack>(value, row, p * pack);
        }
    }
}
//! [block_uncached]

/// The largest of some numbers, and the sum of their exponentials without it.
template <class S>
struct Online
{
    S largest;
    S sum;
};

struct Merged
{
    template <class S>
    __device__ Online<S> operator()(Online<S> a, Online<S> b) const
    {
        S const largest = fmax(a.largest, b.largest);
        auto const part = [&](Online<S> const& of) {
            return of.largest == lowest<S> ? of.sum : of.sum * exponential(of.largest - largest);
        };
        return {largest, part(a) + part(b)};
    }
};

//! [block_online]
/// Maximum and sum in one pass: where a larger element comes, the sum so far is scaled down.
/// Milakov and Gimelshein, Online normalizer calculation for softmax, arXiv:1805.02867 (2018).
template <class T, int pack, int threads>
__global__ void __launch_bounds__(threads) block_online(Softmax what, Load<T> load, Store<T> store,
                                                        std::int64_t rows, std::int64_t columns)
{
    using S = Sum<T>;
    std::int64_t const packs = columns / pack;
    for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        Online<S> online{lowest<S>, 0};
        for (std::int64_t p = threadIdx.x; p < packs; p += threads) {
            S value[pack];
            load.template operator()<pack>(value, row, p * pack);
            S largest = online.largest;
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                largest = fmax(largest, value[i]);
            }
            S sum = online.largest == lowest<S>
                        ? online.sum
                        : online.sum * exponential(online.largest - largest);
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                sum += largest == lowest<S> && value[i] == lowest<S>
                           ? S{0}
                           : exponential(value[i] - largest);
            }
            online = {largest, sum};
        }
        online = reduced<threads>(online, Merged{});
        for (std::int64_t p = threadIdx.x; p < packs; p += threads) {
            S value[pack];
            load.template operator()<pack>(value, row, p * pack);
#pragma unroll
            for (int i = 0; i < pack; ++i) {
                value[i] = result_of(what, value[i] - online.largest, online.sum);
            }
            store.template operator()<pack>(value, row, p * pack);
        }
    }
}
//! [block_online]

/// Merges what lanes that lie up to `width` apart have found.
template <int width, class S>
__device__ Online<S> merged_over_lanes(Online<S> own)
{
#pragma unroll
    for (int distance = width / 2; distance > 0; distance /= 2) {
        own = Merged{}(own, {__shfl_xor_sync(~0u, own.largest, distance),
                             __shfl_xor_sync(~0u, own.sum, distance)});
    }
    return own;
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

//! [registers]
/// Each thread keeps `packs` packs of 16 bytes of a row in registers, so that all loads are on
/// their way at once and memory is read once. A row has `group` threads: some lanes of a warp, a
/// block, or the blocks of a cluster. Each thread takes exponentials without its own maximum, once
/// an element; what others have found comes in as one factor. Rows need not begin at multiples of
/// 16 bytes: of the first and last pack of a row only what belongs to it is touched.
template <class T, int group, int packs>
__global__ void __launch_bounds__(group < 128 ? 256 : group, 1024 / (group < 128 ? 256 : group))
    row_in_registers(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                     int blocks)
{
    using S = Sum<T>;
    constexpr int wide = 16 / sizeof(T);
    constexpr int rows_of_block = group < 128 ? 256 / group : 1;
    announce(blocks);
    std::int64_t const block = blockIdx.x / blocks;
    std::int64_t const row = block * rows_of_block + threadIdx.x / group;
    bool const is_row = row < rows; // shuffles want all lanes
    T const* const from = x + row * columns;
    T* const to = y + row * columns;
    int const before = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % 16 / sizeof(T));
    std::int64_t const first =
        (std::int64_t{blockIdx.x % blocks} * packs * group + threadIdx.x % group) * wide - before;
    S value[packs * wide];
#pragma unroll
    for (int p = 0; p < packs; ++p) {
        std::int64_t const column = first + p * group * wide;
        if (is_row && column >= 0 && column + wide <= columns) {
            auto const bits = __ldcs(reinterpret_cast<uint4 const*>(from + column));
            auto const pack = reinterpret_cast<Elements<T, wide> const&>(bits);
#pragma unroll
            for (int i = 0; i < wide; ++i) {
                value[p * wide + i] = widened(pack.value[i]);
            }
        } else {
#pragma unroll
            for (int i = 0; i < wide; ++i) {
                bool const is_there = is_row && column + i >= 0 && column + i < columns;
                value[p * wide + i] = is_there ? widened(from[column + i]) : lowest<S>;
            }
        }
    }
    Online<S> own{lowest<S>, 0};
#pragma unroll
    for (S const each : value) {
        own.largest = fmax(own.largest, each);
    }
    S const without = own.largest == lowest<S> ? S{0} : own.largest;
#pragma unroll
    for (S& each : value) {
        S const power = exponential(each - without);
        own.sum += power;
        each = what == Softmax::probabilities ? power : each;
    }
    Online<S> whole = merged_over_lanes<(group < 32 ? group : 32)>(own);
    if constexpr (group > 32) {
        constexpr int warps = group / 32;
        __shared__ Online<S> of_warp[warps];
        if (threadIdx.x % 32 == 0) {
            of_warp[threadIdx.x / 32] = whole;
        }
        __syncthreads();
        whole = merged_over_lanes<warps>(of_warp[threadIdx.x % warps]);
        whole = merged_over_cluster(whole, blocks);
    }
    S const factor = exponential(without - whole.largest) / whole.sum;
    S const of_sum = logarithm(whole.sum);
#pragma unroll
    for (S& each : value) {
        each = what == Softmax::probabilities ? each * factor : each - whole.largest - of_sum;
    }
#pragma unroll
    for (int p = 0; p < packs; ++p) {
        std::int64_t const column = first + p * group * wide;
        Elements<T, wide> pack;
#pragma unroll
        for (int i = 0; i < wide; ++i) {
            narrow(value[p * wide + i], pack.value[i]);
        }
        if (is_row && column >= 0 && column + wide <= columns) {
            __stcs(reinterpret_cast<uint4*>(to + column), reinterpret_cast<uint4 const&>(pack));
        } else if (is_row) {
#pragma unroll
            for (int i = 0; i < wide; ++i) {
                if (column + i >= 0 && column + i < columns) {
                    to[column + i] = pack.value[i];
                }
            }
        }
    }
}
//! [registers]

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
namespace cg = cooperative_groups;

//! [cluster]
/// The blocks of a cluster share a row: each keeps a part in its shared memory, and reads maximum
/// and sum of the others from theirs.
template <class T, int pack, int threads>
__global__ void __launch_bounds__(threads)
    cluster_per_row(Softmax what, Load<T> load, Store<T> store, std::int64_t rows,
                    std::int64_t columns, int share)
{
    using S = Sum<T>;
    S* const kept = shared_memory<S>();
    __shared__ Online<S> of_block;
    auto const cluster = cg::this_cluster();
    std::int64_t const row = blockIdx.x / cluster.num_blocks();
    std::int64_t const first = std::int64_t{share} * cluster.block_rank();
    int const count =
        static_cast<int>(max(std::int64_t{0}, min(std::int64_t{share}, columns - first)));
    int const packs = count / pack;
    S largest = lowest<S>;
    for (int p = threadIdx.x; p < packs; p += threads) {
        S value[pack];
        load.template operator()<pack>(value, row, first + std::int64_t{p} * pack);
#pragma unroll
        for (int i = 0; i < pack; ++i) {
            kept[i * packs + p] = value[i];
            largest = fmax(largest, value[i]);
        }
    }
    largest = reduced<threads>(largest, Larger{});
    S sum = 0;
    for (int i = threadIdx.x; i < count; i += threads) {
        // Where a block has nothing but -infinity, others may have more.
        sum += kept[i] == lowest<S> ? S{0} : exponential(kept[i] - largest);
    }
    sum = reduced<threads>(sum, Added{});
    if (threadIdx.x == 0) {
        of_block = {largest, sum};
    }
    cluster.sync();
    Online<S> whole{lowest<S>, 0};
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
        Online<S> const other = *cluster.map_shared_rank(&of_block, rank);
        if (std::int64_t{share} * rank < columns) {
            whole = rank == 0 ? other : Merged{}(whole, other);
        }
    }
    cluster.sync(); // nobody leaves while others read its memory
    for (int p = threadIdx.x; p < packs; p += threads) {
        S value[pack];
#pragma unroll
        for (int i = 0; i < pack; ++i) {
            value[i] = result_of(what, kept[i * packs + p] - whole.largest, whole.sum);
        }
        store.template operator()<pack>(value, row, first + std::int64_t{p} * pack);
    }
}
//! [cluster]
#else
/// GPUs before Hopper have no clusters: `takes_clusters` keeps them from here.
template <class T, int pack, int threads>
__global__ void cluster_per_row(Softmax, Load<T>, Store<T>, std::int64_t, std::int64_t, int)
{
    __trap();
}
#endif

} // namespace
} // namespace dense::gpu
