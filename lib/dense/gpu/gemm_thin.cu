#include "dense/gpu/tile.cuh"

#include "cuda/error.hpp"

#include <cooperative_groups.h>

#include <algorithm>
#include <array>
#include <utility>

namespace dense::gpu {

namespace {

namespace cg = cooperative_groups;

template <class T>
using In = Matrix<T const>;

/// A tile of c for a cluster of eight blocks; each block has four groups of 64 threads, which stand
/// eight by eight and share its part of the sum.
template <class T>
struct Shape
{
    static constexpr int blocks = 8;
    static constexpr int groups = 4;
    static constexpr int threads = groups * 64;
    static constexpr int wide = Pack<T>::size;
    static constexpr int rows_of_thread = 8;
    static constexpr int rows = 8 * rows_of_thread;
    static constexpr int packs = 8; // across the tile, one a thread
    static constexpr int columns = packs * wide;
    static constexpr int depth = 32 * wide; // of a block at a time
    static constexpr int stride =
        depth / wide + 1;                     // packs between rows of a, one against conflicts
    static constexpr int tile = rows * packs; // packs of c
    static constexpr int operands = rows * stride + depth * packs;
    static constexpr int bytes = 16 * (tile + std::max(operands, groups* tile));
};

template <class T>
__device__ void add(Pack<T>& to, Pack<T> const& what)
{
#pragma unroll
    for (int n = 0; n < Pack<T>::size; ++n) {
        to.value[n] += what.value[n];
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
//! [cluster_k]
/// A cluster of eight blocks makes a tile of c: each block sums over an eighth of k, and in it each
/// of four groups of threads over a quarter of that. Then every block gathers its eighth of the
/// tile from all of them through distributed shared memory, so that nothing of it goes to memory
/// twice.
template <class T, bool whole>
__global__ void __launch_bounds__(Shape<T>::threads)
    cluster_k(View<T const> a, View<T const> b, View<T> c)
{
    using S = Shape<T>;
    constexpr int wide = S::wide;
    constexpr int halves = 2; // the second is on its way while the first is multiplied
    constexpr int packs_a = S::depth / wide / halves;
    constexpr int own = S::tile / S::blocks;
    Pack<T>* const gathered = shared_memory<Pack<T>>(); // own packs of every block
    Pack<T>* const tile_a = gathered + S::tile;
    Pack<T>* const tile_b = tile_a + S::rows * S::stride;
    Pack<T>* const parts = tile_a; // of c, when a and b are done with
    auto const cluster = cg::this_cluster();
    auto begun =
        cluster.barrier_arrive(); // before its memory is written all blocks must have begun
    int const rank = static_cast<int>(cluster.block_rank());
    int const i0 = blockIdx.y * S::rows;
    int const j0 = blockIdx.x / S::blocks * S::columns;
    int const group = threadIdx.x / 64;
    int const down = threadIdx.x % 64 / 8;
    int const across = threadIdx.x % 8;
    auto const fetch = [&](int half, int k0) {
#pragma unroll
        for (int i = threadIdx.x / packs_a; i < S::rows; i += S::threads / packs_a) {
            int const pack = half * packs_a + threadIdx.x % packs_a;
            copy_pack<whole>(&tile_a[i * S::stride + pack], a, i0 + i, k0 + pack * wide);
        }
        int const end = (half + 1) * (S::depth / halves);
#pragma unroll
        for (int k = half * (S::depth / halves) + threadIdx.x / S::packs; k < end;
             k += S::threads / S::packs) {
            int const pack = threadIdx.x % S::packs;
            copy_pack<whole>(&tile_b[k * S::packs + pack], b, k0 + k, j0 + pack * wide);
        }
        __pipeline_commit();
    };
    Pack<T> sum[S::rows_of_thread] = {};
    auto const multiply = [&](int half) {
        constexpr int packs_of_group = packs_a / S::groups;
#pragma unroll
        for (int p = 0; p < packs_of_group; ++p) {
            int const pack = half * packs_a + group * packs_of_group + p;
            Pack<T> of_a[S::rows_of_thread];
#pragma unroll
            for (int r = 0; r < S::rows_of_thread; ++r) {
                of_a[r] = tile_a[(r * 8 + down) * S::stride + pack];
            }
#pragma unroll
            for (int n = 0; n < wide; ++n) {
                Pack<T> const of_b = tile_b[(pack * wide + n) * S::packs + across];
#pragma unroll
                for (int r = 0; r < S::rows_of_thread; ++r) {
#pragma unroll
                    for (int m = 0; m < wide; ++m) {
                        sum[r].value[m] += of_a[r].value[n] * of_b.value[m];
                    }
                }
            }
        }
    };
    for (int k0 = rank * S::depth; k0 < a.columns; k0 += S::blocks * S::depth) {
        fetch(0, k0);
        fetch(1, k0);
        __pipeline_wait_prior(1);
        __syncthreads();
        multiply(0);
        __pipeline_wait_prior(0);
        __syncthreads();
        multiply(1);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < S::rows_of_thread; ++r) {
        parts[group * S::tile + (r * 8 + down) * S::packs + across] = sum[r];
    }
    __syncthreads();
    cluster.barrier_wait(std::move(begun));
    for (int e = threadIdx.x; e < S::tile; e += S::threads) {
        Pack<T> total = parts[e];
#pragma unroll
        for (int g = 1; g < S::groups; ++g) {
            add(total, parts[g * S::tile + e]);
        }
        cluster.map_shared_rank(gathered, e / own)[rank * own + e % own] = total;
    }
    cluster.sync();
    for (int e = threadIdx.x; e < own; e += S::threads) {
        Pack<T> total = gathered[e];
#pragma unroll
        for (int from = 1; from < S::blocks; ++from) {
            add(total, gathered[from * own + e]);
        }
        int const at = rank * own + e;
        int const i = i0 + at / S::packs;
        int const j = j0 + at % S::packs * wide;
#pragma unroll
        for (int n = 0; n < wide; ++n) {
            if (whole || (i < c.rows && j + n < c.columns)) {
                c.data[i * c.stride + j + n] = total.value[n];
            }
        }
    }
}
//! [cluster_k]
#else
/// GPUs before Hopper have no clusters: `refuses_old_gpus` keeps them from here.
template <class T, bool whole>
__global__ void cluster_k(View<T const>, View<T const>, View<T>)
{
    __trap();
}
#endif

template <class T>
void launch_cluster_k(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    using S = Shape<T>;
    bool const whole = has_whole_tiles(a, b, S::rows, S::columns, S::depth);
    auto const kernel = whole ? cluster_k<T, true> : cluster_k<T, false>;
    cuda::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::bytes));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = S::blocks;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(ceil_div(c.columns, S::columns)) * S::blocks,
                          static_cast<unsigned>(ceil_div(c.rows, S::rows)));
    config.blockDim = dim3(S::threads);
    config.dynamicSmemBytes = S::bytes;
    config.stream = stream.get();
    config.attrs = &cluster;
    config.numAttrs = 1;
    cuda::check(cudaLaunchKernelEx(&config, kernel, view_of(a), view_of(b), view_of(c)));
}

template <class T>
std::string_view refuses_old_gpus(In<T> const&, In<T> const&, Matrix<T> const&)
{
    return refusal_before(90, "this GPU has no clusters of blocks");
}

constexpr int most_columns = 16; // of thin_columns: two rows of them are the lanes of a warp

/// Adds up `value` over the lanes of a warp; lane l gets the sum of `value[l]`. Each exchange
/// halves what a lane still has to add.
template <int width = 16, class T>
__device__ T sum_of_lane(T (&value)[32])
{
    bool const is_upper = (threadIdx.x & width) != 0;
#pragma unroll
    for (int i = 0; i < width; ++i) {
        T const sent = is_upper ? value[i] : value[i + width];
        T const kept = is_upper ? value[i + width] : value[i];
        value[i] = kept + __shfl_xor_sync(~0u, sent, width);
    }
    if constexpr (width > 1) {
        return sum_of_lane<width / 2>(value);
    } else {
        return value[0];
    }
}

//! [thin_columns]
/// For few columns: a block makes two rows of c. Each thread takes packs of both rows of a and the
/// rows of b beside them, as packs where these lie together in memory, and keeps a sum for every
/// element.
template <class T, int columns>
__global__ void __launch_bounds__(256)
    thin_columns(View<T const> a, View<T const> b, View<T> c, bool has_packs)
{
    constexpr int wide = Pack<T>::size;
    constexpr int rows_of_block = 2;
    constexpr int warps = 8;
    __shared__ T part[warps][32];
    int const i0 = blockIdx.x * rows_of_block;
    T sum[32] = {};
    int const depth = a.columns;
    for (int k = threadIdx.x * wide; k < depth; k += 256 * wide) {
        Pack<T> of_a[rows_of_block];
        Pack<T> of_b[columns]; // `wide` rows of b, one after the other
        if (has_packs && i0 + rows_of_block <= c.rows && k + wide <= depth) {
#pragma unroll
            for (int r = 0; r < rows_of_block; ++r) {
                of_a[r] = *reinterpret_cast<Pack<T> const*>(a.data + (i0 + r) * a.stride + k);
            }
#pragma unroll
            for (int p = 0; p < columns; ++p) {
                of_b[p] = *reinterpret_cast<Pack<T> const*>(b.data + k * columns + p * wide);
            }
        } else {
#pragma unroll
            for (int r = 0; r < rows_of_block; ++r) {
                of_a[r] = load_pack(a, i0 + r, k);
            }
#pragma unroll
            for (int at = 0; at < columns * wide; ++at) {
                int const i = k + at / columns;
                of_b[at / wide].value[at % wide] =
                    i < depth ? b.data[i * b.stride + at % columns] : T{0};
            }
        }
#pragma unroll
        for (int r = 0; r < rows_of_block; ++r) {
#pragma unroll
            for (int n = 0; n < wide; ++n) {
#pragma unroll
                for (int j = 0; j < columns; ++j) {
                    int const at = n * columns + j;
                    sum[r * columns + j] += of_a[r].value[n] * of_b[at / wide].value[at % wide];
                }
            }
        }
    }
    part[threadIdx.x / 32][threadIdx.x % 32] = sum_of_lane(sum);
    __syncthreads();
    int const e = threadIdx.x;
    if (e < rows_of_block * columns && i0 + e / columns < c.rows) {
        T whole = 0;
        for (int warp = 0; warp < warps; ++warp) {
            whole += part[warp][e];
        }
        c.data[(i0 + e / columns) * c.stride + e % columns] = whole;
    }
}
//! [thin_columns]

template <class T, int columns>
void launch_thin(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    bool const has_packs = has_aligned_rows(a.data, a.stride) && b.stride == columns &&
                           reinterpret_cast<std::uintptr_t>(b.data) % 16 == 0;
    thin_columns<T, columns><<<static_cast<unsigned>(ceil_div(c.rows, 2)), 256, 0, stream.get()>>>(
        view_of(a), view_of(b), view_of(c), has_packs);
    cuda::check_launch();
}

template <class T>
void launch_thin_columns(In<T> a, In<T> b, Matrix<T> c, cuda::Stream const& stream)
{
    static constexpr auto launches = []<int... i>(std::integer_sequence<int, i...>)
    {
        return std::array{&launch_thin<T, i + 1>...};
    }
    (std::make_integer_sequence<int, most_columns>{});
    launches[static_cast<std::size_t>(b.columns - 1)](a, b, c, stream);
}

template <class T>
std::string_view refuses_many_columns(In<T> const& a, In<T> const& b, Matrix<T> const&)
{
    return b.columns <= most_columns && a.columns * b.columns < (std::int64_t{1} << 31)
               ? ""
               : "it is made for at most 16 columns";
}

} // namespace

template <class T>
std::vector<Step<T>> thin_steps()
{
    return {{"cluster_k", launch_cluster_k<T>, refuses_old_gpus<T>},
            {"thin_columns", launch_thin_columns<T>, refuses_many_columns<T>}};
}

template std::vector<Step<float>> thin_steps();
template std::vector<Step<double>> thin_steps();

} // namespace dense::gpu
