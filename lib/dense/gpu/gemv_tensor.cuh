#pragma once

#include "dense/gpu/gemv_formats.cuh"
#include "dense/gpu/hopper.cuh"

/// \file
/// The kernel that feeds tensor cores by the copy engine. A tile of theirs is 16 rows of weights
/// and 16 columns, times eight vectors. Which columns make a tile is free, as long as weights and
/// vectors agree: so each lane reads 16 bytes of a row that lie together, and what it read is its
/// part of several tiles. PTX: Matrix Fragments for mma.m16n8k16. For compute capability 9.0.

namespace dense::gpu {

// --- what stands in shared memory ----------------------------------------------------------------

/// 16 bytes of a box of rows of 128 bytes, where the copy engine has swizzled them: by which eighth
/// of 1,024 bytes a row stands in.
__device__ inline uint4 part_of_box(std::byte const* box, int row, int part)
{
    std::byte const* const at = box + row * row_bytes;
    return *reinterpret_cast<uint4 const*>(at + ((part ^ (address(at) / row_bytes)) % 8) * 16);
}

/// What a lane has of eight vectors beside some columns of weights: `run` columns that lie
/// together, in each of `pieces`. All vectors stand in boxes of so many columns, swizzled if these
/// are 64.
template <int pieces, int run, int box>
struct Vectors
{
    static constexpr int packs_of_run = run / 8;
    static constexpr int packs = pieces * packs_of_run;
    static constexpr int box_columns = box;
    static constexpr bool is_swizzled = box == row_elements;

    uint4 part[packs];

    /// From columns `first` on. Lanes of vectors that are not there have those of the last one.
    __device__ void load(std::byte const* boxes, int tile, int vectors, int first)
    {
        int const vector =
            min(tile * tile_vectors + static_cast<int>(threadIdx.x % 32) / 4, vectors - 1);
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            int const column = first +
                               (i / packs_of_run * 4 + static_cast<int>(threadIdx.x % 4)) * run +
                               i % packs_of_run * 8;
            std::byte const* const of_box = boxes + column / box * vectors * box * 2;
            if (is_swizzled) {
                part[i] = part_of_box(of_box, vector, column % box / 8);
            } else {
                part[i] =
                    *reinterpret_cast<uint4 const*>(of_box + vector * box * 2 + column % box * 2);
            }
        }
    }

    /// The operand of tile t of piece p.
    __device__ std::uint32_t operand(int p, int t, int half) const
    {
        return word(part[p * packs_of_run + t / 2], t % 2 * 2 + half);
    }
};

// --- how 16 rows of weights are read and multiplied ----------------------------------------------

/// Of elements in rows: 128 bytes of each, in two pieces of which a lane has 16 bytes of two rows.
template <class E, class X_>
struct RowPanels
{
    using X = X_;
    static constexpr int chunk = row_bytes / static_cast<int>(sizeof(E)); ///< columns of a stage
    static constexpr int multiplied = chunk;                              ///< of these at a time
    static constexpr int unit = 1; ///< rows that stay together

    CUtensorMap map;
    float const* scales;

    __device__ float scale(int row) const { return scales == nullptr ? 1.0f : scales[row]; }

    __host__ __device__ static constexpr int bytes(int rows) { return rows * row_bytes; }

    /// Asks for so many rows from `first` on: zeros where the matrix has ended.
    __device__ void copy(std::byte* to, int first, int rows, int column, Barrier& barrier) const
    {
        static_cast<void>(rows); // the map knows
        load_box(to, map, first, column, barrier);
    }

    /// What a lane holds of a panel.
    struct Panel
    {
        uint4 part[4]; ///< of the first piece of both rows, of the second
    };
    __device__ static Panel load(std::byte const* from, int p, int /*part*/)
    {
        int const row = 16 * p + static_cast<int>(threadIdx.x % 32) / 4;
        Panel panel;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            panel.part[i] =
                part_of_box(from, row + i % 2 * 8, i / 2 * 4 + static_cast<int>(threadIdx.x % 4));
        }
        return panel;
    }
};

/// Of bf16.
struct Bf16Panels : RowPanels<base::bf16, Vectors<2, 8, 64>>
{
    template <int tiles>
    __device__ static void multiply(Panel const& a, X const (&x)[tiles], float (&sum)[tiles][4])
    {
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            auto const& low = a.part[t / 2 * 2];
            auto const& high = a.part[t / 2 * 2 + 1];
            int const i = t % 2 * 2;
#pragma unroll
            for (int v = 0; v < tiles; ++v) {
                multiply_tile(sum[v], word(low, i), word(high, i), word(low, i + 1),
                              word(high, i + 1), x[v].operand(t / 2, t % 2, 0),
                              x[v].operand(t / 2, t % 2, 1));
            }
        }
    }
};

/// Of 8 bits, which become bf16 in registers. No bit is lost: bf16 has more of both kinds.
struct Fp8Panels : RowPanels<base::e4m3, Vectors<2, 16, 64>>
{
    /// Numbers 2 i and 2 i + 1 of a word.
    __device__ static std::uint32_t pair(std::uint32_t word, int i)
    {
        auto const two = as_floats(static_cast<std::uint16_t>(word >> 16 * i));
        return bf16_pair(two.x, two.y);
    }

    template <int tiles>
    __device__ static void multiply(Panel const& a, X const (&x)[tiles], float (&sum)[tiles][4])
    {
#pragma unroll
        for (int t = 0; t < 8; ++t) {
            auto const low = word(a.part[t / 4 * 2], t % 4);
            auto const high = word(a.part[t / 4 * 2 + 1], t % 4);
            std::uint32_t const part[4] = {pair(low, 0), pair(high, 0), pair(low, 1),
                                           pair(high, 1)};
#pragma unroll
            for (int v = 0; v < tiles; ++v) {
                multiply_tile(sum[v], part[0], part[1], part[2], part[3],
                              x[v].operand(t / 4, t % 4, 0), x[v].operand(t / 4, t % 4, 1));
            }
        }
    }
};

/// Of 4 bits: two tiles of each 16 rows, and their scales.
struct Int4Panels
{
    using X = Vectors<4, 8, 256>;
    static constexpr int multiplied = static_cast<int>(int4_group);
    static constexpr int chunk = 2 * multiplied;
    static constexpr int unit = Int4Tiles::tile_rows;

    std::byte const* packed;
    int panels;
    Int4Tiles layout;

    __device__ float scale(int) const { return 1; }

    __host__ __device__ static constexpr int bytes(int rows)
    {
        return rows / unit * Int4Tiles::pair_bytes;
    }

    /// Where panels have ended it asks for the last one again.
    __device__ void copy(std::byte* to, int first, int rows, int column, Barrier& barrier) const
    {
        for (int p = 0; p < rows / unit; ++p) {
            int const panel = min(first / unit + p, panels - 1);
            load_bytes(to + p * Int4Tiles::pair_bytes, packed + layout.pair(panel, column / chunk),
                       Int4Tiles::pair_bytes, barrier);
        }
    }

    /// What a lane holds of a panel.
    struct Panel
    {
        uint4 part[2];
        std::uint32_t scales;
    };
    __device__ static Panel load(std::byte const* from, int p, int part)
    {
        int const lane = threadIdx.x % 32;
        constexpr Int4Tiles layout{1};
        return {{*reinterpret_cast<uint4 const*>(from + layout.part(p, part, 0, lane)),
                 *reinterpret_cast<uint4 const*>(from + layout.part(p, part, 1, lane))},
                *reinterpret_cast<std::uint32_t const*>(from + layout.scales(p, part, lane / 4))};
    }

    /// Numbers 2 i and 2 i + 1 of a word of eight, whose bits are 8 more than they. A shift and a
    /// mask give two that lie 16 bits apart; 0x4300 is 128 in bf16, whose last bits count from
    /// there.
    __device__ static std::uint32_t pair(std::uint32_t word, int i)
    {
        std::uint32_t biased;
        asm("lop3.b32 %0, %1, 0x000f000f, 0x43004300, 0xea;" : "=r"(biased) : "r"(word >> 4 * i));
        std::uint32_t integers; // 1 times that, less 136
        asm("fma.rn.bf16x2 %0, %1, %2, %3;"
            : "=r"(integers)
            : "r"(biased), "r"(0x3f803f80u), "r"(0xc308c308u));
        return integers;
    }

    template <int tiles>
    __device__ static void multiply(Panel const& a, X const (&x)[tiles], float (&sum)[tiles][4])
    {
        float of_group[2][tiles][4] = {}; // two sums do not wait for each other
#pragma unroll
        for (int t = 0; t < 8; ++t) {
            auto const low = word(a.part[0], t / 2);
            auto const high = word(a.part[1], t / 2);
            int const i = t % 2 * 2;
            std::uint32_t const part[4] = {pair(low, i), pair(high, i), pair(low, i + 1),
                                           pair(high, i + 1)};
#pragma unroll
            for (int v = 0; v < tiles; ++v) {
                multiply_tile(of_group[t % 2][v], part[0], part[1], part[2], part[3],
                              x[v].operand(t / 2, t % 2, 0), x[v].operand(t / 2, t % 2, 1));
            }
        }
        auto const scales = __half22float2(*reinterpret_cast<__half2 const*>(&a.scales));
#pragma unroll
        for (int v = 0; v < tiles; ++v) {
            sum[v][0] += scales.x * (of_group[0][v][0] + of_group[1][v][0]);
            sum[v][1] += scales.x * (of_group[0][v][1] + of_group[1][v][1]);
            sum[v][2] += scales.y * (of_group[0][v][2] + of_group[1][v][2]);
            sum[v][3] += scales.y * (of_group[0][v][3] + of_group[1][v][3]);
        }
    }
};

// --- the kernel ----------------------------------------------------------------------------------

/// Up to `panels` times 16 rows are multiplied together, of which each warp has every so many-th
/// chunk of columns.
template <int warps_, int panels_, int tiles_>
struct TensorShape
{
    static constexpr int warps = warps_;
    static constexpr int panels = panels_;
    static constexpr int tiles = tiles_; ///< of eight vectors
    static constexpr int threads = 32 * warps;
    static constexpr int rows = 16 * panels;
    static constexpr int stride = rows + 4; ///< of vectors in shared memory, against conflicts
};

/// How a product is divided, and what a block keeps in shared memory.
struct TensorProblem
{
    int rows, columns, vectors;
    int rows_of_turn; ///< that a block multiplies together
    int stages;       ///< of a warp
};

/// Shares what a warp has summed up.
template <class S>
__device__ void store_sums(float* sums, float const (&sum)[S::panels][S::tiles][4], int vectors)
{
    int const lane = threadIdx.x % 32;
    float* const own = sums + static_cast<int>(threadIdx.x / 32) * vectors * S::stride;
#pragma unroll
    for (int t = 0; t < S::tiles; ++t) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int const vector = t * tile_vectors + lane % 4 * 2 + half;
            if (vector < vectors) {
#pragma unroll
                for (int p = 0; p < S::panels; ++p) {
                    float* const at = own + vector * S::stride + 16 * p + lane / 4;
                    at[0] = sum[p][t][half];
                    at[8] = sum[p][t][2 + half];
                }
            }
        }
    }
}

/// Adds up what all warps have of some rows, in the order of warps.
template <class S, class F>
__device__ void add_sums(float const* sums, F const& weights, int first, int rows, int vectors,
                         GemvResult const& y)
{
    for (int e = threadIdx.x; e < vectors * S::rows; e += S::threads) {
        int const i = e % S::rows;
        int const vector = e / S::rows;
        if (i < rows) {
            float total = 0;
#pragma unroll
            for (int warp = 0; warp < S::warps; ++warp) {
                total += sums[(warp * vectors + vector) * S::stride + i];
            }
            write(y, vector, first + i, weights.scale(first + i) * total);
        }
    }
}

/// A stage of a warp in shared memory: weights, and behind them boxes of all vectors.
template <class F, class S>
struct Stage
{
    static constexpr int parts = F::chunk / F::multiplied;
    static constexpr int boxes = F::chunk / F::X::box_columns;
    static constexpr int box_bytes = F::X::box_columns * 2; ///< of a vector
    static constexpr int weights =
        static_cast<int>(ceil_div(F::bytes(S::rows), swizzle_bytes)) * swizzle_bytes;

    __host__ __device__ static constexpr int bytes(int vectors)
    {
        return (weights + boxes * vectors * box_bytes + swizzle_bytes - 1) / swizzle_bytes *
               swizzle_bytes;
    }
};

constexpr int most_stages = 16;

//! [tensor_rows]
/// Each warp has a ring of stages of its own, which its first lane fills through the copy engine:
/// no warp waits for another but to add up sums, and the next rows are on their way meanwhile. The
/// tensor cores' tiles have eight vectors, whether all of them are there or not.
template <class F, class S>
__global__ void __launch_bounds__(S::threads)
    tensor_rows(__grid_constant__ F const weights, __grid_constant__ CUtensorMap const of_x,
                TensorProblem const problem, GemvResult const y)
{
    using Stage = Stage<F, S>;
    int const bytes = Stage::bytes(problem.vectors);
    int const of_box = problem.vectors * Stage::box_bytes;
    __shared__ Barrier barriers[S::warps][most_stages];
    int const warp = threadIdx.x / 32;
    bool const is_first = threadIdx.x % 32 == 0;
    std::byte* const all = &shared_layout<std::byte>();
    std::byte* const own = all + warp * problem.stages * bytes;
    auto* const sums = reinterpret_cast<float*>(all + S::warps * problem.stages * bytes);
    Barrier* const full = barriers[warp];
    int const groups = static_cast<int>(ceil_div(problem.rows, problem.rows_of_turn));
    int const chunks = static_cast<int>(ceil_div(problem.columns, F::chunk));

    int coming_group = blockIdx.x;
    int coming_chunk = warp;
    auto const ask_for_next = [&](int stage) {
        if (coming_group < groups && coming_chunk < chunks) {
            int const column = coming_chunk * F::chunk;
            std::byte* const to = own + stage * bytes;
            full[stage].expect(F::bytes(problem.rows_of_turn) + Stage::boxes * of_box);
            weights.copy(to, coming_group * problem.rows_of_turn, problem.rows_of_turn, column,
                         full[stage]);
#pragma unroll
            for (int b = 0; b < Stage::boxes; ++b) {
                load_box(to + Stage::weights + b * of_box, of_x, 0, column + b * F::X::box_columns,
                         full[stage]);
            }
            coming_chunk += S::warps;
            if (coming_chunk >= chunks) {
                coming_chunk = warp;
                coming_group += gridDim.x;
            }
        }
    };
    if (is_first) {
        for (int s = 0; s < problem.stages; ++s) {
            full[s].init(1);
        }
        publish_barriers();
        for (int s = 0; s < problem.stages; ++s) {
            ask_for_next(s);
        }
    }
    __syncwarp();
    int stage = 0;
    int parity = 0;
    for (int group = blockIdx.x; group < groups; group += gridDim.x) {
        float sum[S::panels][S::tiles][4] = {};
        for (int chunk = warp; chunk < chunks; chunk += S::warps) {
            std::byte const* const from = own + stage * bytes;
            full[stage].wait(parity);
#pragma unroll
            for (int part = 0; part < Stage::parts; ++part) {
                typename F::X x[S::tiles];
#pragma unroll
                for (int t = 0; t < S::tiles; ++t) {
                    x[t].load(from + Stage::weights, t, problem.vectors, part * F::multiplied);
                }
#pragma unroll
                for (int p = 0; p < S::panels; ++p) {
                    F::multiply(F::load(from, p, part), x, sum[p]);
                }
            }
            __syncwarp();
            if (is_first) {
                ask_for_next(stage);
            }
            if (++stage == problem.stages) {
                stage = 0;
                parity ^= 1;
            }
        }
        __syncthreads(); // sums of the rows before have been read
        store_sums<S>(sums, sum, problem.vectors);
        __syncthreads();
        int const first = group * problem.rows_of_turn;
        add_sums<S>(sums, weights, first, min(problem.rows_of_turn, problem.rows - first),
                    problem.vectors, y);
    }
}
//! [tensor_rows]

} // namespace dense::gpu
