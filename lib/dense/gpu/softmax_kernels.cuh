#pragma once

#include "dense/gpu/element.cuh"
#include "dense/gpu/softmax.hpp"
#include "dense/gpu/tile.cuh"

#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>

#include <limits>
#include <type_traits>

/// \file
/// The kernels of softmax, for the one file that launches them.

namespace dense::gpu {

namespace {

// --- numbers -------------------------------------------------------------------------------------

/// One multiplication and one instruction; what is below 2^-126 becomes 0.
__device__ float exponential(float value)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value * 1.4426950408889634f));
    return power;
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
