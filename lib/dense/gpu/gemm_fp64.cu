#include "dense/gpu/gemm_fp64.hpp"

#include "dense/gpu/cluster.cuh"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/tile.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace dense::gpu {

namespace {

using In = Matrix<double const>;

constexpr int most_parts = 8; // blocks of a cluster

/// A tile of c that a block of `down` x `across` warps makes, each of them so many rows and columns
/// of it. A stage is `depth` of the sum; `stages` of them lie in shared memory, for each of
/// `blocks` blocks of a multiprocessor.
template <int down_, int across_, int rows_of_warp_, int columns_of_warp_, int depth_, int stages_,
          int blocks_>
struct Tile
{
    static constexpr int across = across_;
    static constexpr int rows_of_warp = rows_of_warp_;
    static constexpr int columns_of_warp = columns_of_warp_;
    static constexpr int depth = depth_;
    static constexpr int stages = stages_;
    static constexpr int blocks = blocks_;
    static constexpr int threads = 32 * down_ * across;
    static constexpr int rows = down_ * rows_of_warp;
    static constexpr int columns = across * columns_of_warp;

    static constexpr int tile_a = rows * depth;
    static constexpr int stage = tile_a + depth * columns;
    // Of sums in shared memory: 4 columns of rows 0, 2, 4 and 6 then fill all banks once.
    static constexpr int stride_c = columns + 2;
    static constexpr int bytes = 8 * std::max(stages * stage, rows* stride_c);

    /// Where in a stage element (i, k) of a lies: a slice of 8 of k of rows 0 and 1 fills all banks
    /// once, and so on. Rows that lie a multiple of two apart are alike.
    static __host__ __device__ constexpr int at_a(int i, int k)
    {
        return i * depth + (k ^ i % 2 * 8);
    }

    /// Where element (k, j) of b lies: 4 columns of rows 0, 2, 4 and 6 fill all banks once, and of
    /// rows 1, 3, 5 and 7. Rows that lie a multiple of eight apart are alike.
    static __host__ __device__ constexpr int at_b(int k, int j)
    {
        return tile_a + k * columns + (j ^ k % 8 / 2 * 4);
    }
};

/// Steps of the sum that each of the blocks of a tile makes; so many of them make one more.
struct Share
{
    int steps, longer;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/// Copies `wide` elements to shared memory without a register, or zeros.
template <int wide>
__device__ void copy_async(double* to, double const* from, bool is_there)
{
    auto const at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int const bytes = is_there ? 8 * wide : 0;
    if constexpr (wide == 2) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from),
                     "r"(bytes)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(bytes)
                     : "memory");
    }
}

/// Two elements in one load.
__device__ inline void load_two(double* to, double const* from)
{
    double2 const two = *reinterpret_cast<double2 const*>(from);
    to[0] = two.x;
    to[1] = two.y;
}

/// c += a b of 16 x 8 x 8: thread 4 g + t of a warp holds rows g and g + 8 of a at k = t, then at
/// k = t + 4; b at these k in column g; columns 2 t and 2 t + 1 of c in row g, then in row g + 8.
__device__ inline void multiply_fragments(double (&c)[4], double const (&a)[4],
                                          double const (&b)[2])
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else // half as fast on Hopper, all there is before
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(c[e % 2 * 2]), "+d"(c[e % 2 * 2 + 1])
            : "d"(a[e]), "d"(b[e / 2]));
    }
#endif
}

//! [tensor_fp64]
/// Doubles by tensor cores: of a stage of a and b in shared memory each warp reads what it
/// multiplies next while it multiplies; copies of a later stage stand between the products, and one
/// barrier a stage is enough. Where tiles are few, the blocks of a cluster make parts of the sum,
/// which they then add up out of each other's shared memory in a fixed order. `wide_a` and
/// `wide_b`: elements that a copy takes, 2 where all rows allow it, else 1.
template <class S, int wide_a, int wide_b>
__global__ void __launch_bounds__(S::threads, S::blocks)
    tensor_fp64(View<double const> a, View<double const> b, View<double> c, int tiles_down,
                int tiles_across, Share share)
{
    // Products are made transposed, of 16 columns of b and 8 rows of a: both lie in shared memory
    // as the tensor cores' registers take them, pair by pair.
    constexpr int fragments_i = S::rows_of_warp / 8, fragments_j = S::columns_of_warp / 16;
    constexpr int slices = S::depth / 8;
    double* const shared = shared_memory<double>();
    Place const place = place_in_patch(blockIdx.x, tiles_down, tiles_across);
    int const i0 = place.i * S::rows;
    int const j0 = place.j * S::columns;
    int const parts = gridDim.y; // the blocks of a cluster, each of which sums over a part of k
    int const part = blockIdx.y;
    int const first = (share.steps * part + min(part, share.longer)) * S::depth;
    int const steps = share.steps + (part < share.longer);

    // What this thread copies: every so manyth row of both tiles, and of b every so manyth column,
    // all of which are swizzled alike.
    constexpr int packs_a = S::depth / wide_a, packs_of_b = S::columns / wide_b;
    constexpr int packs_b = packs_of_b < S::threads / 8 ? packs_of_b : S::threads / 8;
    constexpr int next_a = S::threads / packs_a, next_b = S::threads / packs_b;
    constexpr int next_j = packs_b * wide_b, copies_of_row = S::columns / next_j;
    constexpr int copies_a = S::rows / next_a;
    constexpr int copies = copies_a + S::depth / next_b * copies_of_row;
    static_assert(S::threads % packs_a == 0 && S::threads % packs_b == 0);
    static_assert(S::rows % next_a == 0 && S::depth % next_b == 0 && S::columns % next_j == 0);
    static_assert(S::depth % 16 == 0 && next_a % 2 == 0 && next_b % 8 == 0 && next_j % 16 == 0);
    int const row_a = threadIdx.x / packs_a, k_a = threadIdx.x % packs_a * wide_a;
    int const row_b = threadIdx.x / packs_b, j_b = threadIdx.x % packs_b * wide_b;
    double const* from_a = a.data + (i0 + row_a) * a.stride + first + k_a;
    double const* from_b = b.data + (first + row_b) * b.stride + j0 + j_b;
    int const rows_left = a.rows - i0 - row_a;
    int const columns_left = b.columns - j0 - j_b;
    // Of k, from where is copied: none behind this block's part.
    auto const of_part = static_cast<std::int64_t>(steps) * S::depth;
    auto left = static_cast<int>(min(std::int64_t{a.columns - first}, of_part));
    // Copies `begin` to `end` of the stage after those that were copied, to place `to`.
    auto const fetch = [&](int to, int begin, int end) {
        double* const to_a = shared + to * S::stage + S::at_a(row_a, k_a);
        double* const to_b = shared + to * S::stage + S::at_b(row_b, j_b);
        int const rows_there = k_a < left ? rows_left : 0;
#pragma unroll
        for (int n = begin; n < min(end, copies_a); ++n) {
            int const i = n * next_a;
            copy_async<wide_a>(to_a + i * S::depth, from_a + i * a.stride, i < rows_there);
        }
#pragma unroll
        for (int n = max(begin - copies_a, 0); n < end - copies_a; ++n) {
            int const k = n / copies_of_row * next_b, j = n % copies_of_row * next_j;
            copy_async<wide_b>(to_b + k * S::columns + j, from_b + k * b.stride + j,
                               k < left - row_b && j < columns_left);
        }
        if (end == copies) {
            from_a += S::depth;
            from_b += S::depth * b.stride;
            left -= S::depth;
        }
    };

    int const warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int const iw = warp / S::across * S::rows_of_warp;
    int const jw = warp % S::across * S::columns_of_warp;
    // Of a slice of 8 this thread takes k = 2 t and 2 t + 1 for the tensor cores' t and t + 4, and
    // columns 2 g and 2 g + 1 for their g and g + 8: any order will do that a, b and c agree on.
    int const at_a[2] = {S::at_a(iw + g, 2 * t), S::at_a(iw + g, 8 + 2 * t)};
    int const at_b = S::at_b(2 * t, jw + 2 * g);
    double of_a[2][fragments_i][2] = {}; // of this slice and of the next
    double of_b[2][fragments_j][4] = {};
    double sum[fragments_i][fragments_j][4] = {};
    auto const load = [&](double const* from, int slice) {
#pragma unroll
        for (int i = 0; i < fragments_i; ++i) {
            load_two(of_a[slice % 2][i],
                     from + at_a[slice % 2] + slice / 2 * 16 + i * 8 * S::depth);
        }
#pragma unroll
        for (int j = 0; j < fragments_j; ++j) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                load_two(of_b[slice % 2][j] + 2 * e,
                         from + at_b + (slice * 8 + e) * S::columns + j * 16);
            }
        }
    };
    auto const multiply = [&](int slice) {
#pragma unroll
        for (int j = 0; j < fragments_j; ++j) {
#pragma unroll
            for (int i = 0; i < fragments_i; ++i) {
                multiply_fragments(sum[i][j], of_b[slice % 2][j], of_a[slice % 2][i]);
            }
        }
    };
#pragma unroll
    for (int stage = 0; stage < S::stages - 1; ++stage) {
        if (stage < steps) {
            fetch(stage, 0, copies);
        }
        __pipeline_commit();
    }
    int stage = 0;
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(S::stages - 2);
        __syncthreads();
        double const* const from = shared + stage * S::stage;
        int const to = stage == 0 ? S::stages - 1 : stage - 1; // which all warps have read
#pragma unroll
        for (int slice = 0; slice < slices; ++slice) {
            load(from, slice);
            multiply((slice + slices - 1) % slices); // the slice before: zeros at first
            fetch(to, copies * slice / slices, copies * (slice + 1) / slices);
        }
        __pipeline_commit();
        stage = stage + 1 == S::stages ? 0 : stage + 1;
    }
    multiply(slices - 1);

    bool const is_done = parts == 1 && c.is_aligned && c.columns % 2 == 0;
    if (!is_done) { // sums take the place of operands
        __pipeline_wait_prior(0);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < fragments_i; ++i) {
#pragma unroll
        for (int j = 0; j < fragments_j; ++j) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                int const row = iw + i * 8 + t * 2 + e;
                int const column = jw + j * 16 + g * 2;
                double2 const two{sum[i][j][e], sum[i][j][e + 2]};
                if (!is_done) {
                    *reinterpret_cast<double2*>(shared + row * S::stride_c + column) = two;
                } else if (i0 + row < c.rows && j0 + column < c.columns) {
                    double* const at = c.data + (i0 + row) * c.stride + j0 + column;
                    *reinterpret_cast<double2*>(at) = two;
                }
            }
        }
    }
    if (is_done) {
        return;
    }
    if (parts == 1) {
        __syncthreads();
        constexpr int next_row = S::threads / S::columns;
        static_assert(S::threads % S::columns == 0);
        int const column = threadIdx.x % S::columns;
#pragma unroll 8
        for (int row = threadIdx.x / S::columns; row < S::rows; row += next_row) {
            if (i0 + row < c.rows && j0 + column < c.columns) {
                c.data[(i0 + row) * c.stride + j0 + column] = shared[row * S::stride_c + column];
            }
        }
        return;
    }
#if __CUDA_ARCH__ >= 900
    // Each block adds up its share of rows, two columns a thread.
    sync_cluster();
    constexpr int threads_of_row = S::columns / 2, rows_at_once = S::threads / threads_of_row;
    static_assert(S::threads % threads_of_row == 0);
    int const column = threadIdx.x % threads_of_row * 2;
    int const next = parts * rows_at_once;
    bool const stores_pairs = c.is_aligned && c.columns % 2 == 0;
    auto const row = [&](int n) {
        return part * rows_at_once + threadIdx.x / threads_of_row + n * next;
    };
    auto const at = [&](int n) {
        double const* const own = shared + row(n) * S::stride_c + column;
        bool const is_there = row(n) < min(S::rows, c.rows - i0) && j0 + column < c.columns;
        return is_there ? reinterpret_cast<double2 const*>(own) : nullptr;
    };
    add_up_cluster<S::rows / rows_at_once / 2, double2>(
        0, part, parts, (S::rows + next - 1) / next, at, [&](int n, double2 const& total) {
            double* const to = c.data + (i0 + row(n)) * c.stride + j0 + column;
            if (stores_pairs) {
                *reinterpret_cast<double2*>(to) = total;
                return;
            }
            to[0] = total.x;
            if (j0 + column + 1 < c.columns) {
                to[1] = total.y;
            }
        });
    sync_cluster(); // others read this block's shared memory until then
#else
    __trap(); // made for GPUs without clusters, whose plans have one part
#endif
}
//! [tensor_fp64]
#else
/// Older GPUs multiply doubles one by one: `refuses_old_gpus` keeps them from here.
template <class S, int wide_a, int wide_b>
__global__ void tensor_fp64(View<double const>, View<double const>, View<double>, int, int, Share)
{
    __trap();
}
#endif

/// Whether rows can be copied by twos: none of these reaches beyond the end of a row.
bool has_pairs(In const& m)
{
    return has_aligned_rows(m.data, m.stride) && m.columns % 2 == 0;
}

/// c in tiles, each of them by `parts` blocks.
template <class S>
void launch(In const& a, In const& b, Matrix<double> const& c, int parts,
            cuda::Stream const& stream)
{
    static constexpr std::array kernels{tensor_fp64<S, 1, 1>, tensor_fp64<S, 1, 2>,
                                        tensor_fp64<S, 2, 1>, tensor_fp64<S, 2, 2>};
    auto const kernel = kernels[static_cast<std::size_t>(2 * has_pairs(a) + has_pairs(b))];
    cuda::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::bytes));
    auto const tiles_down = static_cast<int>(ceil_div(c.rows, S::rows));
    auto const tiles_across = static_cast<int>(ceil_div(c.columns, S::columns));
    auto const steps = static_cast<int>(ceil_div(a.columns, S::depth));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 1;
    cluster.val.clusterDim.y = static_cast<unsigned>(parts);
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(tiles_down) * static_cast<unsigned>(tiles_across),
                          static_cast<unsigned>(parts));
    config.blockDim = dim3(S::threads);
    config.dynamicSmemBytes = S::bytes;
    config.stream = stream.get();
    config.attrs = &cluster;
    config.numAttrs = parts > 1 ? 1 : 0;
    cuda::check(cudaLaunchKernelEx(&config, kernel, view_of(a), view_of(b), view_of(c), tiles_down,
                                   tiles_across, Share{steps / parts, steps % parts}));
}

/// A tile among which is chosen, and what was measured on an H200: cycles for 16 of k.
struct Choice
{
    int rows, columns, depth, blocks;
    double alone;    ///< of a block that has a multiprocessor for itself
    double together; ///< for each of the blocks that share one
    void (*launch)(In const&, In const&, Matrix<double> const&, int, cuda::Stream const&);
};

template <class S>
constexpr Choice choice(double alone, double together)
{
    return {S::rows, S::columns, S::depth, S::blocks, alone, together, launch<S>};
}

constexpr std::array choices{
    choice<Tile<2, 2, 64, 32, 16, 3, 2>>(1138, 1072), // 128 x 64
    choice<Tile<2, 2, 32, 64, 16, 3, 2>>(1102, 1073), // 64 x 128
    choice<Tile<2, 2, 32, 32, 16, 4, 3>>(630, 555),   // 64 x 64
    choice<Tile<1, 4, 32, 32, 16, 4, 2>>(643, 555),   // 32 x 128
    choice<Tile<2, 2, 32, 16, 16, 4, 3>>(375, 308),   // 64 x 32
    choice<Tile<2, 2, 16, 32, 16, 4, 4>>(351, 295),   // 32 x 64
    choice<Tile<2, 2, 16, 16, 32, 3, 4>>(203, 186),   // 32 x 32
    choice<Tile<1, 4, 16, 32, 16, 5, 2>>(389, 322),   // 16 x 128
    choice<Tile<4, 1, 32, 16, 16, 4, 2>>(373, 359),   // 128 x 16
};

/// Cycles for 16 of a row or column of operands that the L2 sends: rows that begin within sectors
/// of 32 bytes are fetched with what lies beside them.
double cycles_of_loads(In const& m)
{
    constexpr std::uintptr_t sector = 32;
    auto const bits = reinterpret_cast<std::uintptr_t>(m.data) |
                      static_cast<std::uintptr_t>(m.stride) * sizeof(double);
    return bits % sector == 0 ? 2.8 : 4.3;
}

/// Cycles of the busiest multiprocessor, roughly: its blocks run as many at a time as it holds.
/// `at_once` clusters of so many blocks run where each multiprocessor has one block.
double estimated_cycles(In const& a, In const& b, Choice const& tile, int parts, int at_once)
{
    constexpr double begin = 1750, of_cluster = 1200;
    constexpr double store = 0.31; // an element of a tile; in clusters twice
    constexpr double single = 1.9; // a column that is not copied by pairs
    auto const tiles = ceil_div(a.rows, tile.rows) * ceil_div(b.columns, tile.columns);
    auto const blocks = ceil_div(tiles, at_once); // of a multiprocessor
    auto const steps = ceil_div(ceil_div(a.columns, tile.depth), parts) * tile.depth / 16;
    double const more = has_pairs(b) ? 0 : single * tile.columns;
    double const loads = tile.rows * cycles_of_loads(a) + tile.columns * cycles_of_loads(b);
    double const stores = store * tile.rows * tile.columns;
    auto const run = [&](std::int64_t together) {
        auto const count = static_cast<double>(together);
        double const step =
            std::max(tile.alone + more, count * std::max(tile.together + more, loads));
        return together == 0 ? 0 : static_cast<double>(steps) * step + begin + stores * count;
    };
    double const cycles =
        static_cast<double>(blocks / tile.blocks) * run(tile.blocks) + run(blocks % tile.blocks);
    auto const adding = static_cast<double>(std::min<std::int64_t>(blocks, tile.blocks));
    return parts == 1 ? cycles : cycles + of_cluster + stores * adding;
}

void launch_tensor_fp64(In a, In b, Matrix<double> c, cuda::Stream const& stream)
{
    multiply_by_tensor_fp64(fp64_plans(a, b).front(), a, b, c, stream);
}

std::string_view refuses_old_gpus(In const&, In const&, Matrix<double> const&)
{
    return refusal_before(80, "this GPU's tensor cores know no doubles");
}

std::string_view refuses_without_clusters(In const&, In const&, Matrix<double> const&)
{
    return refusal_before(90, "this GPU has no clusters of blocks");
}

template <std::size_t which, int parts>
void launch_choice(In a, In b, Matrix<double> c, cuda::Stream const& stream)
{
    choices[which].launch(a, b, c, parts, stream);
}

template <std::size_t... which>
std::vector<Step<double>> steps_of(std::index_sequence<which...>)
{
    std::vector<Step<double>> steps;
    ((steps.push_back({"a block for each tile", launch_choice<which, 1>, refuses_old_gpus}),
      steps.push_back({"three for each tile", launch_choice<which, 3>, refuses_without_clusters}),
      steps.push_back({"eight for each tile", launch_choice<which, 8>, refuses_without_clusters})),
     ...);
    return steps;
}

} // namespace

std::string Fp64Plan::text() const
{
    return "tiles of " + std::to_string(rows) + " x " + std::to_string(columns) +
           (parts > 1 ? ", depth in " + std::to_string(parts) + " parts" : "");
}

std::vector<Fp64Plan> fp64_plans(Matrix<double const> const& a, Matrix<double const> const& b)
{
    // Constants are fitted to 195 shapes on an H200, nearly all of them drawn: the first plan takes
    // 2 % longer than the best, also on half of the shapes when they are fitted to the others.
    constexpr double launch = 1.2, cycles_of_microsecond = 1980;
    std::vector<Fp64Plan> plans;
    bool const has_clusters = refusal_before(90, "none").empty();
    auto const at_once = [](int parts) {
        return has_wgmma() ? clusters_at_once(parts)
                           : std::max(static_cast<int>(cuda::multiprocessors()) / parts, 1);
    };
    for (Choice const& tile : choices) {
        for (int const parts : {1, 2, 3, 4, 6, 8}) {
            if (parts == 1 || has_clusters) {
                double const cycles = estimated_cycles(a, b, tile, parts, at_once(parts));
                plans.push_back(
                    {tile.rows, tile.columns, parts, launch + cycles / cycles_of_microsecond});
            }
        }
    }
    std::ranges::stable_sort(plans, {}, &Fp64Plan::microseconds);
    return plans;
}

void multiply_by_tensor_fp64(Fp64Plan const& plan, Matrix<double const> a, Matrix<double const> b,
                             Matrix<double> c, cuda::Stream const& stream)
{
    auto const tile = std::ranges::find_if(choices, [&](Choice const& choice) {
        return choice.rows == plan.rows && choice.columns == plan.columns;
    });
    if (tile == choices.end() || plan.parts < 1 || plan.parts > most_parts) {
        throw std::invalid_argument{"multiply_by_tensor_fp64: no " + plan.text()};
    }
    tile->launch(a, b, c, plan.parts, stream);
}

std::vector<Step<double>> fp64_steps()
{
    return {{"tensor_fp64", launch_tensor_fp64, refuses_old_gpus}};
}

std::vector<Step<double>> tensor_fp64_tiles()
{
    return steps_of(std::make_index_sequence<choices.size()>{});
}

} // namespace dense::gpu
