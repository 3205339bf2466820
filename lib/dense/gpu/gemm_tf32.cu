#include "dense/gpu/gemm_tf32.hpp"

#include "dense/gpu/gemm_wgmma.hpp"
#include "dense/gpu/hopper_tf32.cuh"
#include "dense/gpu/tile.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace dense::gpu {

namespace {

// Of numbers of 32 bits the tensor cores read from shared memory only what lies along the sum, as
// rows of a do and those of b do not. So c is made transposed: columns of b, in registers, times
// rows of a. Two warpgroups of a block multiply, each 64 columns of its tile; a third one feeds
// them. Two blocks side by side share rows of a; where tiles are few, blocks of a cluster divide
// the depth of a tile.
constexpr int multipliers = 2;
constexpr int multiplying_threads = multipliers * warpgroup;
constexpr int boxes_of_a = 2; // one above the other, each of which a block of two loads for both
constexpr int largest_cluster = 8;
constexpr int columns_of_block = 128;
constexpr int depth_of_block = 32;
constexpr int columns_of_box = 32;
constexpr int boxes_of_b = columns_of_block / columns_of_box;
constexpr int packs = row_bytes / static_cast<int>(sizeof(float4)); // of a row of a box

/// Rows of a whose beginnings lie alike to multiples of 16 bytes are at most so many apart.
constexpr int most_classes = 4;

/// A tile of each operand as it lies in shared memory, in boxes whose packs are swizzled. There are
/// as many stages of them as fit.
template <int rows>
struct Tiles
{
    static constexpr int stages = rows == 256 ? 4 : rows == 128 ? 6 : 8;
    float4 a[rows][packs];
    float b[boxes_of_b][depth_of_block][columns_of_box];
};

/// The same with what TF32 leaves of a.
struct SplitTiles
{
    static constexpr int stages = 4;
    float4 a[128][packs];
    float4 rest_of_a[128][packs];
    float b[boxes_of_b][depth_of_block][columns_of_box];
};

template <class Tiles>
constexpr int rows_of = sizeof(Tiles::a) / row_bytes;

/// What a block has in shared memory: stages, sums of its tile when nothing is loaded any more, and
/// barriers for those who wait until a stage is full, until its a is split, until it is empty.
template <class Tiles>
struct Pipeline
{
    static constexpr int stages = Tiles::stages;
    static constexpr int pitch = columns_of_block + 4; // against bank conflicts
    union {
        Tiles tiles[stages];
        float sums[rows_of<Tiles>][pitch];
    };
    Barrier full[stages];
    Barrier split[stages];
    Barrier empty[stages];
};

/// What is multiplied. The copy engine reads from multiples of 16 bytes alone. Where rows of a do
/// not begin there, every fourth row begins as far behind one: such a class of rows is read from
/// there, up to three elements before its own. The sum then begins with as many products of zeros,
/// of a here and of rows before the first of b, and all else stays as it is.
struct Task
{
    CUtensorMap boxes_of_a[most_classes]; ///< by class
    int before[most_classes];             ///< elements that are read before rows of each class
    int classes;
    CUtensorMap boxes_of_b;
    View<float const> b;
    View<float> c;
    int across; ///< blocks that share rows of a: 1 or 2
    int parts;  ///< blocks that divide the depth of a tile

    __device__ int cluster() const { return across * parts; }
    __device__ int part() const { return block_rank() % parts; }
    __device__ int beside() const { return block_rank() / parts; } ///< among those that share
    /// The bits of those that share, and the rank of the other one; negative if there is none.
    __device__ std::uint16_t sharing() const { return (1 | 1 << parts) << part(); }
    __device__ int other() const { return across > 1 ? (block_rank() + parts) % cluster() : -1; }
};

/// Rows and columns of c that a block makes at once. All rows are of one class.
struct Tile
{
    int row_class;
    int first_row; ///< of its class
    int rows;      ///< of its class from there on
    int column;
    int before;      ///< as the task says
    int first, last; ///< steps along the sum that this block makes
};

template <class Tiles>
__device__ int tiles_down(Task const& task)
{
    auto const rows = ceil_div(task.c.rows, task.classes);
    return task.classes * static_cast<int>(ceil_div(rows, rows_of<Tiles>));
}

__device__ int clusters_across(Task const& task)
{
    return static_cast<int>(ceil_div(task.c.columns, task.across * columns_of_block));
}

/// Tile number `at` of this block's cluster.
template <class Tiles>
__device__ Tile tile_of(Task const& task, int at)
{
    Place const place = place_in_patch(at, tiles_down<Tiles>(task), clusters_across(task));
    Tile tile;
    tile.row_class = place.i % task.classes;
    tile.first_row = place.i / task.classes * rows_of<Tiles>;
    tile.rows =
        static_cast<int>(ceil_div(task.c.rows - tile.row_class, task.classes)) - tile.first_row;
    tile.column = (place.j * task.across + task.beside()) * columns_of_block;
    tile.before = task.before[tile.row_class];
    auto const steps = static_cast<int>(ceil_div(task.b.rows + tile.before, depth_of_block));
    tile.first = steps * task.part() / task.parts;
    tile.last = steps * (task.part() + 1) / task.parts;
    return tile;
}

/// Calls `work` with each tile of this block.
template <class Tiles, class Work>
__device__ void for_tiles(Task const& task, Work work)
{
    int const tiles = tiles_down<Tiles>(task) * clusters_across(task);
    for (int at = blockIdx.x / task.cluster(); at < tiles; at += gridDim.x / task.cluster()) {
        work(tile_of<Tiles>(task, at));
    }
}

/// A warp copies eight rows of a tile of b, word by word, from any alignment.
__device__ void copy_rows_of_b(View<float const> const& b, int row, int column,
                               float (&to)[boxes_of_b][depth_of_block][columns_of_box])
{
    int const warp = threadIdx.x % warpgroup / 32;
    int const lane = threadIdx.x % 32;
    row += warp * 8;
    column += lane;
    float const* from = b.data + row * b.stride + column;
#pragma unroll
    for (int y = 0; y < 8; ++y, from += b.stride) {
#pragma unroll
        for (int box = 0; box < boxes_of_b; ++box) {
            bool const is_there = static_cast<unsigned>(row + y) < static_cast<unsigned>(b.rows) &&
                                  column + box * columns_of_box < b.columns;
            copy_float(&to[box][warp * 8 + y][((lane / 4) ^ y) * 4 + lane % 4],
                       from + box * columns_of_box, is_there);
        }
    }
}

/// Fills stage after stage, for one tile after the other: the copy engine brings rows of a, half of
/// them for both blocks that share them, and b, too, unless it is copied `by_hand`.
template <bool by_hand, class Tiles>
__device__ void feed(Task const& task, Pipeline<Tiles>& pipeline)
{
    constexpr int half = rows_of<Tiles> / boxes_of_a;
    bool const is_first = warp_of_block() % 4 == 0;
    if (!by_hand && !is_first) {
        return;
    }
    int const own = task.beside() * half;
    auto const sharing = task.sharing();
    Turn<Tiles::stages> turn;
    for_tiles<Tiles>(task, [&](Tile const& tile) {
        for (int step = tile.first; step < tile.last; ++step, ++turn) {
            Tiles& to = pipeline.tiles[turn.stage];
            Barrier& full = pipeline.full[turn.stage];
            int const k0 = step * depth_of_block;
            pipeline.empty[turn.stage].wait(turn.parity ^ 1);
            if (is_first && is_elected()) {
                full.expect(sizeof to.a + (by_hand ? 0 : sizeof to.b));
                auto const& of_a = task.boxes_of_a[tile.row_class];
                if (task.across > 1) {
                    load_box(to.a[own], of_a, tile.first_row + own, k0, full, sharing);
                } else {
                    load_box(to.a[0], of_a, tile.first_row, k0, full);
                    load_box(to.a[half], of_a, tile.first_row + half, k0, full);
                }
                for (int box = 0; !by_hand && box < boxes_of_b; ++box) {
                    load_box(to.b[box], task.boxes_of_b, k0 - tile.before,
                             tile.column + box * columns_of_box, full);
                }
            }
            if (by_hand) {
                copy_rows_of_b(task.b, k0 - tile.before, tile.column, to.b);
                arrive_when_copied(full);
            }
        }
    });
}

/// Zeros in place of what was read before a row of a tile of a.
__device__ void clear_before(float4 (&row)[packs], int number, int before)
{
    float* const first = &row[number % packs].x; // where the swizzle has put pack 0
#pragma unroll
    for (int e = 0; e < 3; ++e) {
        if (e < before) {
            first[e] = 0;
        }
    }
}

/// The first of two columns of a tile, neighbours, that a lane multiplies. Warps have 16 of 32
/// columns; lanes that read at the same time, of four rows of b each, find all banks.
__device__ int column_of_lane()
{
    int const warp = threadIdx.x / 32;
    int const pair = threadIdx.x % 32 / 4;
    int const pack = pair / 4 + pair / 2 % 2 * 4 + warp % 2 * 2;
    return warp / 2 * columns_of_box + pack * 4 + pair % 2 * 2;
}

/// Both columns of a lane in row k of a tile of b.
template <class Tiles>
__device__ float2 columns_in(Tiles const& tiles, int column, int k)
{
    auto const& row = tiles.b[column / columns_of_box][k];
    int const pack = (column % columns_of_box / 4) ^ (k % packs);
    return *reinterpret_cast<float2 const*>(row + pack * 4 + column % 4);
}

/// Writes what a lane has of a tile: sums 4 x and 4 x + 1 are rows 8 x + 2 (t % 4) and the one
/// after it of its first column, 4 x + 2 and 4 x + 3 those of its second.
template <int count>
__device__ void store(Task const& task, Tile const& tile, float const (&sum)[count])
{
    View<float> const& c = task.c;
    int const row = threadIdx.x % 4 * 2;
    int const column = tile.column + column_of_lane();
    std::int64_t const step = c.stride * task.classes;
    float* const to = c.data + tile.row_class * c.stride + (tile.first_row + row) * step + column;
    bool const has_pairs = c.stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(c.data) % 8 == 0;
    if (has_pairs && tile.rows >= 2 * count && tile.column + columns_of_block <= c.columns) {
#pragma unroll
        for (int i = 0; i < 2 * count; i += 8) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                *reinterpret_cast<float2*>(to + (i + e) * step) = {sum[i / 2 + e],
                                                                   sum[i / 2 + e + 2]};
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < 2 * count; i += 8) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                if (i + row + e % 2 < tile.rows && column + e / 2 < c.columns) {
                    to[(i + e % 2) * step + e / 2] = sum[i / 2 + e];
                }
            }
        }
    }
}

/// Before roles part: barriers are ready in all blocks of the cluster.
template <class Tiles>
__device__ void begin(Task const& task, Pipeline<Tiles>& pipeline, bool by_hand)
{
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < Tiles::stages; ++stage) {
            pipeline.full[stage].init(by_hand ? 1 + warpgroup : 1);
            pipeline.split[stage].init(warpgroup);
            pipeline.empty[stage].init(multiplying_threads / 32 * task.across);
        }
        publish_barriers();
    }
    sync_cluster();
}

/// A warp no longer reads the oldest of the stages that it has: it says so to all blocks that write
/// to it, to the `other` one, too, unless that is negative.
template <class Tiles>
__device__ void release(Pipeline<Tiles>& pipeline, Turn<Tiles::stages>& oldest, int other)
{
    Barrier& empty = pipeline.empty[oldest.stage];
    if (threadIdx.x % 32 == 0) {
        empty.arrive();
        if (other >= 0) {
            empty.arrive_at(other);
        }
    }
    ++oldest;
}

/// Leaves what a lane has of a tile in shared memory, in place of all stages.
template <class Tiles, int count>
__device__ void leave(Pipeline<Tiles>& pipeline, float const (&sum)[count])
{
    sync_threads<multiplying_threads>(1); // which have all read their last stage
    int const row = threadIdx.x % 4 * 2;
    int const column = column_of_lane();
#pragma unroll
    for (int i = 0; i < 2 * count; i += 8) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            *reinterpret_cast<float2*>(&pipeline.sums[i + row + e][column]) = {sum[i / 2 + e],
                                                                               sum[i / 2 + e + 2]};
        }
    }
}

/// Adds up what the blocks that divide the depth of a tile have left, each a part of it.
template <class Tiles>
__device__ void add_up(Task const& task, Pipeline<Tiles> const& pipeline, Tile const& tile)
{
    constexpr int packs_of_row = columns_of_block / 4;
    View<float> const& c = task.c;
    int const rows = min(rows_of<Tiles>, tile.rows);
    int const columns = min(columns_of_block, c.columns - tile.column);
    int const step = task.parts * multiplying_threads;
    auto const element = [&](int n) {
        return task.part() * multiplying_threads + static_cast<int>(threadIdx.x) + n * step;
    };
    auto const at = [&](int n) -> float4 const* {
        int const i = element(n) / packs_of_row, j = element(n) % packs_of_row * 4;
        return i < rows && j < columns ? reinterpret_cast<float4 const*>(&pipeline.sums[i][j])
                                       : nullptr;
    };
    auto const store = [&](int n, float4 const& total) {
        int const i = element(n) / packs_of_row, j = element(n) % packs_of_row * 4;
        float* const to =
            c.data + tile.column + j +
            (tile.row_class + (tile.first_row + i) * std::int64_t{task.classes}) * c.stride;
        if (c.is_aligned && j + 4 <= columns) {
            *reinterpret_cast<float4*>(to) = total;
            return;
        }
        float const values[]{total.x, total.y, total.z, total.w};
#pragma unroll
        for (int x = 0; x < 4; ++x) {
            if (j + x < columns) {
                to[x] = values[x];
            }
        }
    };
    constexpr int most = rows_of<Tiles> * packs_of_row / multiplying_threads / 2;
    int const first = task.beside() * task.parts;
    add_up_cluster<most, float4>(first, task.part(), task.parts,
                                 (rows * packs_of_row + step - 1) / step, at, store);
}

//! [wgmma_tf32]
/// Columns of b come to registers, from where the tensor cores take them, while those multiply the
/// ones before by rows of a, 64 x 256 x 8 at once. The copy engine rounds to TF32; what is copied
/// by hand is rounded here.
template <class Stage, bool by_hand>
__global__ void __launch_bounds__(3 * warpgroup, 1) wgmma_tf32(__grid_constant__ Task const task)
{
    auto& pipeline = shared_layout<Pipeline<Stage>>();
    begin(task, pipeline, by_hand);
    if (threadIdx.x / warpgroup == multipliers) {
        keep_registers<40>();
        feed<by_hand>(task, pipeline);
        if (task.parts > 1) {
            sync_cluster();
        }
    } else {
        take_registers<232>();
        int const column = column_of_lane();
        int const other = task.other();
        Turn<Stage::stages> turn;
        Turn<Stage::stages> oldest;
        for_tiles<Stage>(task, [&](Tile const& tile) {
            float sum[rows_of<Stage> / 2];
            for (int step = tile.first; step < tile.last; ++step, ++turn) {
                Stage& tiles = pipeline.tiles[turn.stage];
                pipeline.full[turn.stage].wait(turn.parity);
                if (step == 0 && tile.before > 0) {
                    if (threadIdx.x < rows_of<Stage>) {
                        clear_before(tiles.a[threadIdx.x], threadIdx.x, tile.before);
                    }
                    publish_writes();
                    sync_threads<multiplying_threads>(1);
                }
#pragma unroll
                for (int k0 = 0; k0 < depth_of_block; k0 += 16) {
                    std::uint32_t of_b[2][4];
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        int const k = k0 + 4 * e + threadIdx.x % 4;
                        float2 const two = columns_in(tiles, column, k);
                        auto& to = of_b[e / 2];
                        to[e % 2 * 2] = by_hand ? nearest_tf32(two.x) : __float_as_uint(two.x);
                        to[e % 2 * 2 + 1] = by_hand ? nearest_tf32(two.y) : __float_as_uint(two.y);
                    }
                    begin_products();
                    multiply(sum, of_b[0], operand(&tiles.a[0][k0 / 4]),
                             step > tile.first || k0 > 0);
                    multiply(sum, of_b[1], operand(&tiles.a[0][k0 / 4 + 2]), true);
                    commit_products();
                    wait_for_products<1>(); // for those before, whose registers are free again
                    if (k0 == 0 && step > tile.first) {
                        release(pipeline, oldest, other);
                    }
                }
            }
            wait_for_products<0>();
            settle(sum);
            release(pipeline, oldest, other);
            if (task.parts == 1) {
                store(task, tile, sum);
            } else {
                leave(pipeline, sum); // of the only one
                sync_cluster();
                add_up(task, pipeline, tile);
            }
        });
    }
    sync_cluster(); // no block ends while the other one still arrives at its barriers
}
//! [wgmma_tf32]

/// Steps along the sum after which what tensor cores have added up leaves them: they cut off what
/// does not fit a float where others round, and 64 products keep the errors of sums in fp32.
constexpr int steps_of_sums = 2;

//! [wgmma_3xtf32]
/// Each operand is the sum of two numbers of TF32, and only the product of both rests is left out.
/// A warpgroup splits a, whose rests lie beside it in shared memory; b is split in registers. Sums
/// leave the tensor cores in time.
template <bool by_hand>
__global__ void __launch_bounds__(4 * warpgroup, 1) wgmma_3xtf32(__grid_constant__ Task const task)
{
    using Stage = SplitTiles;
    auto& pipeline = shared_layout<Pipeline<Stage>>();
    begin(task, pipeline, by_hand);
    if (threadIdx.x / warpgroup == multipliers) {
        keep_registers<56>();
        feed<by_hand>(task, pipeline);
    } else if (threadIdx.x / warpgroup == multipliers + 1) {
        keep_registers<64>();
        int const row = threadIdx.x % warpgroup;
        Turn<Stage::stages> turn;
        for_tiles<Stage>(task, [&](Tile const& tile) {
            for (int step = tile.first; step < tile.last; ++step, ++turn) {
                Stage& tiles = pipeline.tiles[turn.stage];
                pipeline.full[turn.stage].wait(turn.parity);
                if (step == 0) {
                    clear_before(tiles.a[row], row, tile.before);
                }
#pragma unroll
                for (int e = 0; e < packs; ++e) {
                    int const pack = (row + e) % packs; // another bank for each of eight lanes
                    tiles.rest_of_a[row][pack] = rest_of_tf32(tiles.a[row][pack]);
                }
                publish_writes();
                pipeline.split[turn.stage].arrive();
            }
        });
    } else {
        take_registers<192>();
        int const column = column_of_lane();
        int const other = task.other();
        Turn<Stage::stages> turn;
        Turn<Stage::stages> oldest;
        for_tiles<Stage>(task, [&](Tile const& tile) {
            float total[rows_of<Stage> / 2] = {};
            float sum[rows_of<Stage> / 2];
            for (int step = tile.first; step < tile.last; ++step, ++turn) {
                Stage const& tiles = pipeline.tiles[turn.stage];
                pipeline.full[turn.stage].wait(turn.parity);
                bool const begins = step % steps_of_sums == 0;
#pragma unroll
                for (int k0 = 0; k0 < depth_of_block; k0 += 16) {
                    std::uint32_t of_b[2][4];
                    std::uint32_t rest_of_b[2][4];
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        int const k = k0 + e / 2 * 4 + threadIdx.x % 4;
                        float2 const two = columns_in(tiles, column, k);
                        float const value = e % 2 == 0 ? two.x : two.y;
                        // Where this rounding spoils a NaN, the rest is one.
                        std::uint32_t whole = (__float_as_uint(value) + 0x1000) & 0xffffe000;
                        float rest = value - __uint_as_float(whole);
                        // All before the first product: else the compiler waits between products.
                        asm volatile("" : "+r"(whole), "+f"(rest));
                        of_b[e / 4][e % 4] = whole;
                        rest_of_b[e / 4][e % 4] = __float_as_uint(rest);
                    }
                    if (k0 == 0) {
                        pipeline.split[turn.stage].wait(turn.parity);
                        if (begins && step > 0) {
                            wait_for_products<0>();
                            settle(sum);
#pragma unroll
                            for (int e = 0; e < rows_of<Stage> / 2; ++e) {
                                total[e] += sum[e];
                            }
                            settle(sum);
                        }
                    }
                    begin_products();
#pragma unroll
                    for (int x = 0; x < 2; ++x) {
                        auto const of_a = operand(&tiles.a[0][k0 / 4 + 2 * x]);
                        auto const rest_of_a = operand(&tiles.rest_of_a[0][k0 / 4 + 2 * x]);
                        multiply(sum, rest_of_b[x], of_a, !begins || k0 + x > 0);
                        multiply(sum, of_b[x], rest_of_a, true);
                        multiply(sum, of_b[x], of_a, true);
                    }
                    commit_products();
                    wait_for_products<1>(); // for those before, whose registers are free again
                    if (k0 == 0 && step > 0) {
                        release(pipeline, oldest, other);
                    }
                }
            }
            wait_for_products<0>();
            settle(sum);
            release(pipeline, oldest, other);
#pragma unroll
            for (int e = 0; e < rows_of<Stage> / 2; ++e) {
                total[e] += sum[e];
            }
            store(task, tile, total);
        });
    }
    sync_cluster(); // no block ends while the other one still arrives at its barriers
}
//! [wgmma_3xtf32]

/// Classes of rows that begin alike.
int classes_of(Matrix<float const> const& a)
{
    return has_aligned_rows(a.data, a.stride) ? 1 : most_classes;
}

/// Tiles of blocks that share or divide.
std::int64_t tiles_of(Tf32Plan const& plan, Matrix<float const> const& a,
                      Matrix<float const> const& b)
{
    int const classes = classes_of(a);
    return classes * ceil_div(ceil_div(a.rows, classes), plan.rows) *
           ceil_div(b.columns, plan.across * columns_of_block);
}

/// Rows r, r + classes and so on of a matrix, from the 16 bytes in which row r begins.
Matrix<float const> class_of_rows(Matrix<float const> const& a, int r, int classes, int& before)
{
    if (r >= a.rows) { // no row is read, but the driver wants one
        r = 0;
    }
    float const* const begin = a.data + r * a.stride;
    before = static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) % 16 / sizeof(float));
    return {begin - before, ceil_div(a.rows - r, classes), a.columns + before, a.stride * classes};
}

/// `kernels`: for b as the copy engine reads it, and by hand.
template <class Tiles>
void launch(void (*const (&kernels)[2])(Task), int threads, bool rounds, Tf32Plan const& plan,
            Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
            cuda::Stream const& stream)
{
    Task task{};
    task.classes = classes_of(a);
    task.b = view_of(b);
    task.c = view_of(c);
    task.across = plan.across;
    task.parts = plan.parts;
    for (int r = 0; r < task.classes; ++r) {
        task.boxes_of_a[r] = float_boxes_of(class_of_rows(a, r, task.classes, task.before[r]),
                                            rows_of<Tiles> / boxes_of_a, rounds);
    }
    if (task.b.is_aligned) {
        task.boxes_of_b = float_boxes_of(b, depth_of_block, rounds);
    }
    auto const kernel = kernels[task.b.is_aligned ? 0 : 1];
    constexpr int bytes = sizeof(Pipeline<Tiles>);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    int const cluster = plan.across * plan.parts;
    auto const tiles = tiles_of(plan, a, b);
    auto const clusters =
        plan.parts > 1 ? tiles : std::min<std::int64_t>(tiles, clusters_at_once(cluster));
    cudaLaunchAttribute shape{};
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(clusters * cluster));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.stream = stream.get();
    config.attrs = &shape;
    config.numAttrs = 1;
    cuda::check(cudaLaunchKernelEx(&config, kernel, task));
}

template <int rows>
void launch_tiles(Tf32Plan const& plan, Matrix<float const> a, Matrix<float const> b,
                  Matrix<float> c, cuda::Stream const& stream)
{
    launch<Tiles<rows>>({wgmma_tf32<Tiles<rows>, false>, wgmma_tf32<Tiles<rows>, true>},
                        3 * warpgroup, true, plan, a, b, c, stream);
}

void launch_tf32(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                 cuda::Stream const& stream)
{
    multiply_by_tf32(tf32_plans(a, b).front(), a, b, c, stream);
}

void launch_3xtf32(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                   cuda::Stream const& stream)
{
    launch<SplitTiles>({wgmma_3xtf32<false>, wgmma_3xtf32<true>}, 4 * warpgroup, false,
                       {.rows = rows_of<SplitTiles>}, a, b, c, stream);
}

std::string_view refuses_all_but_hopper(Matrix<float const> const&, Matrix<float const> const&,
                                        Matrix<float> const&)
{
    auto const why = "it is made for GPUs of compute capability 9.0";
    auto const before = refusal_before(90, why);
    return before.empty() && refusal_before(91, why).empty() ? why : before;
}

/// By a model whose constants were fitted to 2,847 products on an H200: a launch, and turns of the
/// device, in each of which a tile is begun and stored, goes through its part of the depth, and is
/// added up where there are several parts.
double expected_microseconds(Tf32Plan const& plan, Matrix<float const> const& a,
                             Matrix<float const> const& b)
{
    constexpr double launch = 1.18;
    constexpr double by_hand = 1.29; // a step where threads copy b
    constexpr double alone = 0.19;   // of a step is saved where no other multiprocessor works
    double const step = plan.rows == 256 ? 0.683 : plan.rows == 128 ? 0.459 : 0.383;
    double const tile = 2.3 + 0.0128 * plan.rows + (plan.parts > 1 ? 1.7 + 0.006 * plan.rows : 0);
    int const cluster = plan.across * plan.parts;
    auto const clusters = tiles_of(plan, a, b);
    auto const turns = static_cast<double>(ceil_div(clusters, clusters_at_once(cluster)));
    auto const steps =
        static_cast<double>(ceil_div(ceil_div(a.columns, depth_of_block), plan.parts));
    double const busy =
        std::min(static_cast<double>(clusters * cluster) / cuda::multiprocessors(), 1.0);
    return launch + turns * (tile + steps * step * (view_of(b).is_aligned ? 1 : by_hand) *
                                        (1 - alone * (1 - busy)));
}

} // namespace

std::string Tf32Plan::text() const
{
    return "tiles of " + std::to_string(rows) + " x " + std::to_string(columns_of_block) +
           (across > 1 ? ", rows loaded for 2" : "") +
           (parts > 1 ? ", depth in " + std::to_string(parts) + " parts" : "");
}

std::vector<Tf32Plan> tf32_plans(Matrix<float const> const& a, Matrix<float const> const& b)
{
    auto const steps = ceil_div(a.columns, depth_of_block);
    std::vector<Tf32Plan> plans;
    for (int const rows : {256, 128, 64}) {
        for (int const across : {1, 2}) {
            for (int const parts : {1, 2, 4, 8}) {
                bool const is_cut = parts > 1 && steps < 2 * parts; // too short for so many
                if (across * parts > largest_cluster || is_cut ||
                    (across > 1 && b.columns <= columns_of_block)) {
                    continue;
                }
                Tf32Plan plan{rows, across, parts};
                plan.microseconds = expected_microseconds(plan, a, b);
                plans.push_back(plan);
            }
        }
    }
    std::ranges::stable_sort(plans, {}, &Tf32Plan::microseconds);
    return plans;
}

void multiply_by_tf32(Tf32Plan const& plan, Matrix<float const> a, Matrix<float const> b,
                      Matrix<float> c, cuda::Stream const& stream)
{
    // Every part makes a step, so that it has sums.
    bool const is_cluster =
        (plan.across == 1 || plan.across == 2) && plan.parts >= 1 &&
        plan.across * plan.parts <= largest_cluster &&
        plan.parts <= std::max<std::int64_t>(ceil_div(a.columns, depth_of_block), 1);
    auto const launch = plan.rows == 256   ? launch_tiles<256>
                        : plan.rows == 128 ? launch_tiles<128>
                        : plan.rows == 64  ? launch_tiles<64>
                                           : nullptr;
    if (!is_cluster || launch == nullptr) {
        throw std::invalid_argument{"multiply_by_tf32: no " + plan.text()};
    }
    launch(plan, a, b, c, stream);
}

std::vector<Step<float>> wgmma_steps()
{
    return {{"wgmma_tf32", launch_tf32, refuses_all_but_hopper},
            {"wgmma_3xtf32", launch_3xtf32, refuses_all_but_hopper}};
}

} // namespace dense::gpu
