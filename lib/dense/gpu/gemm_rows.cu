#include "cuda/error.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/hopper.cuh"
#include "dense/gpu/tile.cuh"

#include <algorithm>
#include <type_traits>

namespace dense::gpu {

namespace {

/// `across` threads stand side by side with a pack of columns each, the others take packs of
/// further rows of b.
template <class Element, int most_rows, int threads_across>
struct FewRows
{
    using T = Element;
    static constexpr int rows = most_rows;
    static constexpr int across = threads_across;
    static constexpr int threads = 256;
    static constexpr int deep = threads / across;
    static constexpr int wide = Pack<T>::size;
    static constexpr int columns = across * wide;
    static constexpr int ahead = 8 / wide; ///< packs of rows of b on their way: eight rows
    static constexpr int at_once = wide * deep * ahead;
    static constexpr int chunk = 4096 / static_cast<int>(sizeof(T)); ///< of rows of a, kept shared

    union Memory {
        T a[rows][chunk];
        T sums[deep][rows][columns]; ///< when a is done with
    };
};

/// Which part of the depth a block sums over.
struct Split
{
    int blocks; ///< of a cluster
    int depth;  ///< of each of them, but the last ones
};

//! [few_rows]
/// For few rows: b is read once, from memory to registers, and each thread keeps the sums of a pack
/// of columns for all rows. Where rows of b begin anywhere it takes columns that lie `across` apart
/// instead, so that neighbours still read what lies together. The last tile overlaps the one before
/// it, so that nothing asks for edges, and stores what is its own.
template <class S, bool packs_b>
__global__ void __launch_bounds__(S::threads, 2)
    few_rows(View<typename S::T const> a, View<typename S::T const> b, View<typename S::T> c,
             Split split)
{
    using T = typename S::T;
    constexpr int wide = S::wide;
    auto& memory = *shared_memory<typename S::Memory>();
    int const t = threadIdx.x;
    int const x = t % S::across;
    int const d = t / S::across;
    int const rank = split.blocks > 1 ? block_rank() : 0;
    int const own = blockIdx.x / split.blocks * S::columns;
    int const j0 = min(own, b.columns - S::columns);
    int const first = rank * split.depth;
    int const last = min(b.rows, first + split.depth);
    T sum[S::rows][wide] = {};
    for (int k0 = first; k0 < last; k0 += S::chunk) {
        int const here = min(S::chunk, last - k0);
        if (k0 > first) {
            __syncthreads();
        }
        for (int e = t; e < S::chunk * S::rows; e += S::threads) {
            int const i = e / S::chunk;
            int const k = e % S::chunk;
            if (k < (here + wide - 1) / wide * wide) {
                bool const there = i < a.rows && k < here;
                __pipeline_memcpy_async(&memory.a[i][k],
                                        a.data + (there ? i * a.stride + k0 + k : 0), sizeof(T),
                                        there ? 0 : sizeof(T));
            }
        }
        __pipeline_commit();
        for (int k1 = 0; k1 < here; k1 += S::at_once) {
            Pack<T> of_b[S::ahead][wide];
            auto const load = [&](auto is_part) {
                constexpr bool asks = decltype(is_part)::value;
#pragma unroll
                for (int u = 0; u < S::ahead; ++u) {
#pragma unroll
                    for (int y = 0; y < wide; ++y) {
                        int const k = k1 + (d + u * S::deep) * wide + y;
                        T const* const row = b.data + (k0 + k) * b.stride + j0;
                        of_b[u][y] = {};
                        if (asks && k >= here) {
                            continue;
                        }
                        if (packs_b) {
                            of_b[u][y] = *reinterpret_cast<Pack<T> const*>(row + x * wide);
                        } else {
#pragma unroll
                            for (int q = 0; q < wide; ++q) {
                                of_b[u][y].value[q] = row[x + q * S::across];
                            }
                        }
                    }
                }
            };
            if (k1 + S::at_once <= here) {
                load(std::false_type{});
            } else {
                load(std::true_type{});
            }
            if (k1 == 0) { // the first rows of b are on their way while a arrives
                __pipeline_wait_prior(0);
                __syncthreads();
            }
#pragma unroll
            for (int u = 0; u < S::ahead; ++u) {
                int const k = k1 + (d + u * S::deep) * wide;
                if (k < here) {
#pragma unroll
                    for (int i = 0; i < S::rows; ++i) {
                        auto const of_a = *reinterpret_cast<Pack<T> const*>(&memory.a[i][k]);
#pragma unroll
                        for (int y = 0; y < wide; ++y) {
#pragma unroll
                            for (int q = 0; q < wide; ++q) {
                                sum[i][q] += of_a.value[y] * of_b[u][y].value[q];
                            }
                        }
                    }
                }
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < S::rows; ++i) {
#pragma unroll
        for (int q = 0; q < wide; ++q) {
            memory.sums[d][i][packs_b ? x * wide + q : x + q * S::across] = sum[i][q];
        }
    }
    __syncthreads();
    constexpr int count = S::rows * S::columns;
    T* const sums = &memory.sums[0][0][0];
    for (int e = t; e < count; e += S::threads) {
        T total = sums[e];
#pragma unroll 8
        for (int y = 1; y < S::deep; ++y) {
            total += sums[y * count + e];
        }
        sums[e] = total;
    }
    if (split.blocks > 1) {
        sync_cluster();
    }
    int const step = split.blocks * S::threads;
    auto const element = [&](int n) { return rank * S::threads + t + n * step; };
    add_up_cluster<count / S::threads / 2, T>(
        0, rank, split.blocks, (count + step - 1) / step,
        [&](int n) { return element(n) < count ? sums + element(n) : nullptr; },
        [&](int n, T total) {
            int const i = element(n) / S::columns;
            int const j = j0 + element(n) % S::columns;
            if (i < c.rows && j >= own) {
                c.data[i * c.stride + j] = total;
            }
        });
    if (split.blocks > 1) {
        sync_cluster(); // whose blocks read what this one keeps
    }
}
//! [few_rows]

constexpr int largest_cluster = 8;

/// The blocks of a cluster that are done soonest: a turn of all multiprocessors, which hold two
/// blocks each, takes as long as the part of the depth, and what a block costs beside.
int cluster_for(std::int64_t tiles, std::int64_t depth)
{
    constexpr double beside = 300; // rows of b that are read in that time: an estimate
    auto const time = [&](int blocks) {
        auto const turns = ceil_div(tiles, 2 * std::int64_t{clusters_at_once(blocks)});
        return static_cast<double>(turns) *
               (static_cast<double>(ceil_div(depth, blocks)) + beside + (blocks > 1 ? beside : 0));
    };
    int best = 1;
    for (int blocks = 2; blocks <= largest_cluster; ++blocks) {
        best = time(blocks) < time(best) ? blocks : best;
    }
    return best;
}

template <class S, bool packs_b>
void launch(View<typename S::T const> a, View<typename S::T const> b, View<typename S::T> c,
            cuda::Stream const& stream)
{
    auto const kernel = few_rows<S, packs_b>;
    constexpr int bytes = sizeof(typename S::Memory);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    auto const tiles = ceil_div(c.columns, S::columns);
    int const blocks = cluster_for(tiles, b.rows);
    auto const packs = ceil_div(b.rows, S::wide);
    Split const split{blocks, static_cast<int>(ceil_div(packs, blocks)) * S::wide};
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(tiles * blocks));
    config.blockDim = dim3(S::threads);
    config.dynamicSmemBytes = bytes;
    config.stream = stream.get();
    config.attrs = &cluster;
    config.numAttrs = blocks > 1 ? 1 : 0;
    cuda::check(cudaLaunchKernelEx(&config, kernel, a, b, c, split));
}

constexpr int most_rows = 8;
constexpr int narrow = 8; ///< threads across where there are few columns, too
constexpr int broad = 32;

template <class T, int rows>
void launch_rows(View<T const> a, View<T const> b, View<T> c, cuda::Stream const& stream)
{
    bool const packs_b = b.is_aligned && b.columns % Pack<T>::size == 0;
    // Wide tiles read more that lies together, if there is one for most multiprocessors.
    if (c.columns >= 16 * broad * Pack<T>::size) {
        (packs_b ? launch<FewRows<T, rows, broad>, true>
                 : launch<FewRows<T, rows, broad>, false>)(a, b, c, stream);
    } else {
        (packs_b ? launch<FewRows<T, rows, narrow>, true>
                 : launch<FewRows<T, rows, narrow>, false>)(a, b, c, stream);
    }
}

template <class T>
void launch_few_rows(Matrix<T const> a, Matrix<T const> b, Matrix<T> c, cuda::Stream const& stream)
{
    auto const of_rows = a.rows <= 1   ? launch_rows<T, 1>
                         : a.rows <= 2 ? launch_rows<T, 2>
                         : a.rows <= 4 ? launch_rows<T, 4>
                                       : launch_rows<T, most_rows>;
    of_rows(view_of(a), view_of(b), view_of(c), stream);
}

template <class T>
std::string_view refuses_many_rows(Matrix<T const> const& a, Matrix<T const> const& b,
                                   Matrix<T> const& /*c*/)
{
    if (a.rows > most_rows || b.columns < narrow * Pack<T>::size) {
        return "it is made for at most 8 rows, and columns that fill 128 bytes";
    }
    return has_wgmma() ? "" : "this GPU has no clusters of blocks";
}

} // namespace

template <class T>
std::vector<Step<T>> row_steps()
{
    return {{"few_rows", launch_few_rows<T>, refuses_many_rows<T>}};
}

template std::vector<Step<float>> row_steps();
template std::vector<Step<double>> row_steps();

} // namespace dense::gpu
