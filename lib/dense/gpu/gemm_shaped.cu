#include "dense/gpu/gemm_shaped.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/hopper.cuh"
#include "dense/gpu/tile.cuh"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace dense::gpu {

namespace {

constexpr int largest_cluster = 8;

__host__ __device__ constexpr int power_of_two_up_to(int limit)
{
    int power = 1;
    while (2 * power <= limit) {
        power *= 2;
    }
    return power;
}

/// Sizes of tiles: of a block (`rows` x `columns` of c, `depth` of the sum at a time), and of a
/// thread, which is a lane of a warp that stands so many lanes down. Groups of warps share the
/// depth of a stage. A multiprocessor holds so many `blocks`.
template <int block_rows, int block_columns, int block_depth, int thread_rows, int thread_columns,
          int down, int group_count, int block_count>
struct Shape
{
    static constexpr int rows = block_rows;
    static constexpr int columns = block_columns;
    static constexpr int depth = block_depth;
    static constexpr int of_rows = thread_rows;
    static constexpr int of_columns = thread_columns;
    static constexpr int lanes_down = down;
    static constexpr int lanes_across = 32 / down;
    static constexpr int groups = group_count;
    static constexpr int blocks = block_count;
    static constexpr int stages = 4;
    static constexpr int ahead = 2; ///< stages under way: the next was left by all two steps ago
    static constexpr int warps_across = columns / (lanes_across * of_columns);
    static constexpr int warps_of_group = rows / (lanes_down * of_rows) * warps_across;
    static constexpr int warps = warps_of_group * groups;
    static constexpr int threads = 32 * warps;
    static constexpr int depth_of_group = depth / groups;

    /// Rows of tiles are four elements farther apart than they are long, against bank conflicts.
    struct Stage
    {
        float a[depth][rows + 4]; ///< transposed
        float b[depth][columns];
    };
    struct Memory
    {
        union {
            Stage stage[stages];
            float c[groups][rows][columns + 4]; ///< when the operands are done with
        };
        Barrier full[stages];
        Barrier empty[stages];
    };
    static_assert(rows % (lanes_down * of_rows) == 0 && columns % (lanes_across * of_columns) == 0);
    static_assert(depth % 8 == 0 && depth_of_group % 2 == 0);
};

/// Which part of the depth a block sums over.
struct Split
{
    int blocks; ///< of a cluster
    int depth;  ///< of each of them, but the last ones
};

/// Copies one element, or a pack of four, to shared memory without a register; zeros if it is not
/// `there`. A barrier can wait for it.
template <int elements>
__device__ void copy(float* to, char const* from, bool there = true)
{
    __pipeline_memcpy_async(to, from, sizeof(float) * elements,
                            there ? 0 : sizeof(float) * elements);
}

//! [shaped_tiles]
/// A kernel for tiles of every size. Copies of single elements transpose a on the way, and take
/// rows that begin anywhere; b comes in packs where its rows allow it. Stages are handed over by
/// barriers that count who has copied and who has read: a warp may be a step ahead of the slowest,
/// and no loop asks for edges, as the part of the depth that is no whole stage comes first. Groups
/// of warps and blocks of a cluster add up their parts of the sum through shared memory, always in
/// the same order.
template <class S, bool packs_b>
__global__ void __launch_bounds__(S::threads, S::blocks)
    shaped_tiles(View<float const> a, View<float const> b, View<float> c, Split split,
                 int tiles_down, int tiles_across)
{
    using Memory = typename S::Memory;
    auto& memory = *shared_memory<Memory>();
    int const t = threadIdx.x;
    int const rank = split.blocks > 1 ? block_rank() : 0;
    Place const place =
        place_in_patch(blockIdx.x / split.blocks, tiles_down, tiles_across, 1024 / S::rows);
    int const i0 = place.i * S::rows;
    int const j0 = place.j * S::columns;
    int const first = rank * split.depth;
    int const depth = max(0, min(split.depth, a.columns - first));
    int const steps = (depth + S::depth - 1) / S::depth;
    if (t < S::stages) {
        memory.full[t].init(S::threads);
        memory.empty[t].init(S::warps);
    }
    __syncthreads();

    // What this thread copies of a: of every so manyth row, whose first is clamped to the last that
    // there is, elements that lie eight steps of the sum apart, or a multiple of that. A warp takes
    // eight neighbours of four rows, which lie in different banks.
    constexpr int octets = S::threads / 8;
    constexpr int rows_at_once = S::rows < octets ? S::rows : octets;
    constexpr int depth_at_once = 8 * (octets / rows_at_once);
    constexpr int passes_a = S::rows / rows_at_once;
    constexpr int passes_k = depth_at_once < S::depth ? S::depth / depth_at_once : 1;
    int const ia = t / 8 % rows_at_once;
    int const ka = t % 8 + t / 8 / rows_at_once * 8;
    // Threads whose one row lies beyond the matrix copy none: many copies of one address are slow.
    // Whatever their rows of the tile hold then becomes elements of c that nobody stores.
    bool const copies_a =
        (depth_at_once <= S::depth || ka < S::depth) && (passes_a > 1 || ia < a.rows - i0);
    unsigned from_a[passes_a]; // bytes from the first row of the tile
#pragma unroll
    for (int q = 0; q < passes_a; ++q) {
        int const i = min(ia + q * rows_at_once, a.rows - 1 - i0);
        from_a[q] = static_cast<unsigned>(i) * static_cast<unsigned>(a.stride) * 4u;
    }
    auto at_a = reinterpret_cast<char const*>(a.data + i0 * a.stride + first + ka);

    // And of b: packs, or elements, of some rows of the tile.
    constexpr int wide = packs_b ? 4 : 1;
    constexpr int units = S::columns / wide;
    constexpr int across = units < S::threads ? units : S::threads;
    constexpr int rows_at_most = S::threads / across < S::depth ? S::threads / across : S::depth;
    constexpr int down = power_of_two_up_to(rows_at_most);
    constexpr int passes_j = units / across;
    constexpr int passes_b = S::depth / down;
    int const jb = t % across * wide;
    int const kb = t / across;
    bool const copies_b = kb < down && (passes_j > 1 || jb < b.columns - j0);
    auto at_b = reinterpret_cast<char const*>(b.data + (first + kb) * b.stride + j0);
    unsigned from_b[passes_j];
#pragma unroll
    for (int q = 0; q < passes_j; ++q) {
        from_b[q] = 4u * static_cast<unsigned>(min(jb + q * across * wide, b.columns - wide - j0));
    }
    std::int64_t const pass_b = b.stride * 4 * down;

    Turn<S::stages> filled{0, 1};
    auto const fetch = [&](int valid, auto is_part) {
        constexpr bool asks = decltype(is_part)::value;
        auto& stage = memory.stage[filled.stage];
        memory.empty[filled.stage].wait(filled.parity);
        if (copies_a) {
#pragma unroll
            for (int q = 0; q < passes_a; ++q) {
#pragma unroll
                for (int x = 0; x < passes_k; ++x) {
                    int const k = x * depth_at_once;
                    copy<1>(&stage.a[ka + k][ia + q * rows_at_once], at_a + from_a[q] + k * 4,
                            !asks || ka + k < valid);
                }
            }
        }
        if (copies_b) {
            char const* row = at_b;
#pragma unroll
            for (int x = 0; x < passes_b; ++x) {
#pragma unroll
                for (int q = 0; q < passes_j; ++q) {
                    copy<wide>(&stage.b[kb + x * down][jb + q * across * wide], row + from_b[q],
                               !asks || kb + x * down < valid);
                }
                row += pass_b;
            }
        }
        memory.full[filled.stage].arrive_when_copied();
        at_a += 4 * (asks ? valid : S::depth);
        at_b += b.stride * 4 * (asks ? valid : S::depth);
        ++filled;
    };

    int const lane = t % 32;
    int const warp = t / 32 % S::warps_of_group;
    int const group = t / 32 / S::warps_of_group;
    int const iw = warp / S::warps_across * S::lanes_down * S::of_rows + lane / S::lanes_across * 4;
    int const jw =
        warp % S::warps_across * S::lanes_across * S::of_columns + lane % S::lanes_across * 4;
    int const kw = group * S::depth_of_group;
    float sum[S::of_rows][S::of_columns] = {};
    Pack<float> of_a[2][S::of_rows / 4]; // of this step of the sum and of the next
    Pack<float> of_b[2][S::of_columns / 4];
    auto const read = [&](typename S::Stage const& stage, int k) {
#pragma unroll
        for (int q = 0; q < S::of_rows / 4; ++q) {
            of_a[k % 2][q] =
                *reinterpret_cast<Pack<float> const*>(&stage.a[kw + k][iw + q * S::lanes_down * 4]);
        }
#pragma unroll
        for (int q = 0; q < S::of_columns / 4; ++q) {
            of_b[k % 2][q] = *reinterpret_cast<Pack<float> const*>(
                &stage.b[kw + k][jw + q * S::lanes_across * 4]);
        }
    };
    if (steps > 0) {
        fetch(depth - (steps - 1) * S::depth, std::true_type{});
#pragma unroll
        for (int s = 1; s < S::ahead; ++s) {
            if (s < steps) {
                fetch(S::depth, std::false_type{});
            }
        }
        Turn<S::stages> used;
        memory.full[0].wait(0);
        read(memory.stage[0], 0);
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
#pragma unroll
            for (int k = 0; k < S::depth_of_group; ++k) {
                if (k + 1 < S::depth_of_group) {
                    read(memory.stage[used.stage], k + 1);
                } else {
                    __syncwarp();
                    if (lane == 0) {
                        memory.empty[used.stage].arrive();
                    }
                    ++used;
                    if (step + 1 < steps) {
                        memory.full[used.stage].wait(used.parity);
                        read(memory.stage[used.stage], 0);
                    }
                }
                if (k == (S::depth_of_group > 4 ? 2 : 0) && step + S::ahead < steps) {
                    fetch(S::depth, std::false_type{});
                }
                // There and back, so that neighbours share an operand that is in a register's
                // cache.
#pragma unroll
                for (int s = 0; s < S::of_columns; ++s) {
#pragma unroll
                    for (int q = 0; q < S::of_rows; ++q) {
                        int const r = s % 2 == 0 ? q : S::of_rows - 1 - q;
                        sum[r][s] +=
                            of_a[k % 2][r / 4].value[r % 4] * of_b[k % 2][s / 4].value[s % 4];
                    }
                }
            }
        }
    }
    __syncthreads();

#pragma unroll
    for (int r = 0; r < S::of_rows; ++r) {
#pragma unroll
        for (int s = 0; s < S::of_columns; s += 4) {
            int const i = iw + r / 4 * S::lanes_down * 4 + r % 4;
            *reinterpret_cast<Pack<float>*>(&memory.c[group][i][jw + s * S::lanes_across]) = {
                {sum[r][s], sum[r][s + 1], sum[r][s + 2], sum[r][s + 3]}};
        }
    }
    __syncthreads();
    constexpr int packs = S::columns / 4;
    auto const pack_at = [&](int g, int e) {
        return reinterpret_cast<float4*>(&memory.c[g][e / packs][e % packs * 4]);
    };
    if (S::groups > 1) {
#pragma unroll 4
        for (int e = t; e < S::rows * packs; e += S::threads) {
            float4 total = *pack_at(0, e);
#pragma unroll
            for (int g = 1; g < S::groups; ++g) {
                add(total, *pack_at(g, e));
            }
            *pack_at(0, e) = total;
        }
        __syncthreads();
    }
    int const begin = S::rows * rank / split.blocks; // of the rows that this block stores
    int const end = S::rows * (rank + 1) / split.blocks;
    if (split.blocks > 1) {
        sync_cluster();
        int const count = (end - begin) * packs;
        auto const own = [&](int n) {
            int const e = t + n * S::threads;
            return e < count ? pack_at(0, begin * packs + e) : nullptr;
        };
        add_up_cluster<S::rows * packs / S::threads / 2, float4>(
            0, rank, split.blocks, (count + S::threads - 1) / S::threads, own,
            [&](int n, float4 const& total) { // which nobody else reads
                *own(n) = total;
            });
        sync_cluster();
    }
    if (c.is_aligned && c.columns % 4 == 0) {
#pragma unroll 4
        for (int e = begin * packs + t; e < end * packs; e += S::threads) {
            int const i = i0 + e / packs;
            int const j = j0 + e % packs * 4;
            if (i < c.rows && j < c.columns) {
                *reinterpret_cast<float4*>(c.data + i * c.stride + j) = *pack_at(0, e);
            }
        }
        return;
    }
    constexpr int beside = S::columns % 32 == 0 ? 32 : S::columns < 16 ? S::columns : 16;
    for (int i = begin + t / beside; i < min(end, c.rows - i0); i += S::threads / beside) {
#pragma unroll
        for (int j = t % beside; j < S::columns; j += beside) {
            if (j0 + j < c.columns) {
                c.data[(i0 + i) * c.stride + j0 + j] = memory.c[0][i][j];
            }
        }
    }
}
//! [shaped_tiles]

/// Rows of a that copies reach by 32 bits.
constexpr std::int64_t longest_stride = std::int64_t{1} << 22;

bool has_packs(View<float const> const& b)
{
    return b.is_aligned && b.columns % 4 == 0;
}

template <class S, bool packs_b>
void launch(ShapedPlan const& plan, View<float const> a, View<float const> b, View<float> c,
            cuda::Stream const& stream)
{
    auto const kernel = shaped_tiles<S, packs_b>;
    constexpr int bytes = sizeof(typename S::Memory);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    auto const down = ceil_div(c.rows, S::rows);
    auto const across = ceil_div(c.columns, S::columns);
    auto const steps = ceil_div(a.columns, S::depth);
    Split const split{plan.cluster, static_cast<int>(ceil_div(steps, plan.cluster)) * S::depth};
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(plan.cluster);
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(down * across * plan.cluster));
    config.blockDim = dim3(S::threads);
    config.dynamicSmemBytes = bytes;
    config.stream = stream.get();
    config.attrs = &cluster;
    config.numAttrs = plan.cluster > 1 ? 1 : 0;
    cuda::check(cudaLaunchKernelEx(&config, kernel, a, b, c, split, static_cast<int>(down),
                                   static_cast<int>(across)));
}

template <class... Shapes>
bool launch_shape(ShapedPlan const& plan, View<float const> a, View<float const> b, View<float> c,
                  cuda::Stream const& stream)
{
    auto const launch_if = [&]<class S>(S) {
        if (plan.rows != S::rows || plan.columns != S::columns) {
            return false;
        }
        (has_packs(b) ? launch<S, true> : launch<S, false>)(plan, a, b, c, stream);
        return true;
    };
    return (launch_if(Shapes{}) || ...);
}

} // namespace

std::string_view refuses_shaped_tiles(Matrix<float const> const& a,
                                      Matrix<float const> const& /*b*/, Matrix<float> const& /*c*/)
{
    if (!has_wgmma()) { // barriers and clusters are of the same GPUs
        return "it is made for GPUs of compute capability 9.0";
    }
    return a.stride <= longest_stride ? "" : "rows of the left matrix are too far apart";
}

void multiply_by_shaped_tiles(ShapedPlan const& plan, Matrix<float const> a, Matrix<float const> b,
                              Matrix<float> c, cuda::Stream const& stream)
{
    if (plan.cluster < 1 || plan.cluster > largest_cluster) {
        throw std::invalid_argument{"multiply_by_shaped_tiles: no clusters of " +
                                    std::to_string(plan.cluster)};
    }
    // Blocks of 64 and 128 rows first; then those for few rows and for few columns.
    bool const found =
        launch_shape<Shape<128, 256, 16, 8, 16, 4, 1, 1>, Shape<64, 128, 16, 8, 8, 4, 1, 3>,
                     Shape<64, 64, 32, 8, 16, 8, 4, 2>, Shape<64, 96, 16, 8, 12, 8, 2, 2>,
                     Shape<64, 48, 32, 8, 12, 8, 4, 2>, Shape<64, 32, 32, 8, 8, 8, 4, 3>,
                     Shape<32, 128, 32, 8, 16, 4, 4, 2>, Shape<32, 64, 32, 8, 8, 4, 4, 3>,
                     Shape<32, 32, 32, 4, 8, 8, 4, 4>, Shape<16, 128, 32, 4, 16, 4, 4, 3>,
                     Shape<8, 128, 32, 8, 4, 1, 4, 3>, Shape<4, 128, 32, 4, 4, 1, 4, 3>,
                     Shape<128, 16, 32, 8, 8, 16, 4, 3>, Shape<128, 8, 32, 8, 4, 16, 4, 3>>(
            plan, view_of(a), view_of(b), view_of(c), stream);
    if (!found) {
        throw std::invalid_argument{"multiply_by_shaped_tiles: no " + plan.text()};
    }
}

ShapedProblem shaped_problem(Matrix<float const> const& a, Matrix<float const> const& b)
{
    return {a.rows, b.columns, a.columns, has_packs(view_of(b)), clusters_at_once};
}

void multiply_by_shaped_tiles(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                              cuda::Stream const& stream)
{
    multiply_by_shaped_tiles(shaped_plans(shaped_problem(a, b)).front(), a, b, c, stream);
}

} // namespace dense::gpu
