#include "dense/gpu/hopper_tf32.cuh"
#include "dense/gpu/tile.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <algorithm>
#include <cstdint>

namespace dense::gpu {

namespace {

// Of numbers of 32 bits the tensor cores read from shared memory only what lies along the sum, as
// rows of a do and those of b do not. So c is made transposed: columns of b, in registers, times
// rows of a. Two warpgroups of a block multiply, each 64 columns of its tile; a third one feeds
// them. Two blocks side by side make a cluster and share rows of a.
constexpr int multipliers = 2;
constexpr int multiplying_threads = multipliers * warpgroup;
constexpr int blocks_of_cluster = 2;
constexpr int columns_of_block = 128;
constexpr int depth_of_block = 32;
constexpr int columns_of_box = 32;
constexpr int boxes_of_b = columns_of_block / columns_of_box;
constexpr int packs = row_bytes / static_cast<int>(sizeof(float4)); // of a row of a box
constexpr int stages = 4;

/// Rows of a whose beginnings lie alike to multiples of 16 bytes are at most so many apart.
constexpr int most_classes = 4;

/// A tile of each operand as it lies in shared memory, in boxes whose packs are swizzled.
template <int rows>
struct Tiles
{
    float4 a[rows][packs];
    float b[boxes_of_b][depth_of_block][columns_of_box];
};

/// The same with what TF32 leaves of a.
struct SplitTiles
{
    float4 a[128][packs];
    float4 rest_of_a[128][packs];
    float b[boxes_of_b][depth_of_block][columns_of_box];
};

template <class Tiles>
constexpr int rows_of = sizeof(Tiles::a) / row_bytes;

/// What a block has in shared memory: stages, and barriers for those who wait until one is full,
/// until its a is split, until it is empty.
template <class Tiles>
struct Pipeline
{
    Tiles tiles[stages];
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
};

/// Rows and columns of c that a block makes at once. All rows are of one class.
struct Tile
{
    int row_class;
    int first_row; ///< of its class
    int rows;      ///< of its class from there on
    int column;
    int before; ///< as the task says
    int steps;  ///< along the sum
};

template <class Tiles>
__device__ int tiles_down(Task const& task)
{
    auto const rows = ceil_div(task.c.rows, task.classes);
    return task.classes * static_cast<int>(ceil_div(rows, rows_of<Tiles>));
}

__device__ int pairs_across(Task const& task)
{
    return static_cast<int>(ceil_div(task.c.columns, blocks_of_cluster * columns_of_block));
}

/// Tile number `at` of this block's cluster.
template <class Tiles>
__device__ Tile tile_of(Task const& task, int at)
{
    Place const place = place_in_patch(at, tiles_down<Tiles>(task), pairs_across(task));
    Tile tile;
    tile.row_class = place.i % task.classes;
    tile.first_row = place.i / task.classes * rows_of<Tiles>;
    tile.rows =
        static_cast<int>(ceil_div(task.c.rows - tile.row_class, task.classes)) - tile.first_row;
    tile.column = (place.j * blocks_of_cluster + block_rank()) * columns_of_block;
    tile.before = task.before[tile.row_class];
    tile.steps = static_cast<int>(ceil_div(task.b.rows + tile.before, depth_of_block));
    return tile;
}

/// Calls `work` with each tile of this block.
template <class Tiles, class Work>
__device__ void for_tiles(Task const& task, Work work)
{
    int const tiles = tiles_down<Tiles>(task) * pairs_across(task);
    for (int at = blockIdx.x / blocks_of_cluster; at < tiles; at += gridDim.x / blocks_of_cluster) {
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

/// Fills stage after stage, for one tile after the other: the copy engine brings half of the rows
/// of a to both blocks of the cluster, and b, too, unless it is copied `by_hand`.
template <bool by_hand, class Tiles>
__device__ void feed(Task const& task, Pipeline<Tiles>& pipeline)
{
    constexpr int half = rows_of<Tiles> / blocks_of_cluster;
    bool const is_first = threadIdx.x % warpgroup == 0;
    if (!by_hand && !is_first) {
        return;
    }
    int const own = block_rank() * half;
    Turn<stages> turn;
    for_tiles<Tiles>(task, [&](Tile const& tile) {
        for (int step = 0; step < tile.steps; ++step, ++turn) {
            Tiles& to = pipeline.tiles[turn.stage];
            Barrier& full = pipeline.full[turn.stage];
            int const k0 = step * depth_of_block;
            pipeline.empty[turn.stage].wait(turn.parity ^ 1);
            if (is_first) {
                full.expect(sizeof to.a + (by_hand ? 0 : sizeof to.b));
                load_box(to.a[own], task.boxes_of_a[tile.row_class], tile.first_row + own, k0, full,
                         0b11);
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

/// Before roles part: barriers are ready in both blocks of the cluster.
template <class Tiles>
__device__ void begin(Pipeline<Tiles>& pipeline, bool by_hand)
{
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            pipeline.full[stage].init(by_hand ? 1 + warpgroup : 1);
            pipeline.split[stage].init(warpgroup);
            pipeline.empty[stage].init(multiplying_threads / 32 * blocks_of_cluster);
        }
        publish_barriers();
    }
    sync_cluster();
}

/// A warp no longer reads the oldest of the stages that it has: it says so to both blocks, as both
/// write to it.
template <class Tiles>
__device__ void release(Pipeline<Tiles>& pipeline, Turn<stages>& oldest)
{
    Barrier& empty = pipeline.empty[oldest.stage];
    if (threadIdx.x % 32 == 0) {
        empty.arrive();
        empty.arrive_at(block_rank() ^ 1);
    }
    ++oldest;
}

//! [wgmma_tf32]
/// Columns of b come to registers, from where the tensor cores take them, while those multiply the
/// ones before by rows of a, 64 x 256 x 8 at once. The copy engine rounds to TF32; what is copied
/// by hand is rounded here.
template <bool by_hand>
__global__ void __cluster_dims__(blocks_of_cluster) __launch_bounds__(3 * warpgroup, 1)
    wgmma_tf32(__grid_constant__ Task const task)
{
    using Stage = Tiles<256>;
    auto& pipeline = shared_layout<Pipeline<Stage>>();
    begin(pipeline, by_hand);
    if (threadIdx.x / warpgroup == multipliers) {
        keep_registers<40>();
        feed<by_hand>(task, pipeline);
    } else {
        take_registers<232>();
        int const column = column_of_lane();
        Turn<stages> turn;
        Turn<stages> oldest;
        for_tiles<Stage>(task, [&](Tile const& tile) {
            float sum[rows_of<Stage> / 2];
            for (int step = 0; step < tile.steps; ++step, ++turn) {
                Stage& tiles = pipeline.tiles[turn.stage];
                pipeline.full[turn.stage].wait(turn.parity);
                if (step == 0 && tile.before > 0) {
                    clear_before(tiles.a[threadIdx.x], threadIdx.x, tile.before);
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
                    multiply(sum, of_b[0], operand(&tiles.a[0][k0 / 4]), step + k0 > 0);
                    multiply(sum, of_b[1], operand(&tiles.a[0][k0 / 4 + 2]), true);
                    commit_products();
                    wait_for_products<1>(); // for those before, whose registers are free again
                    if (k0 == 0 && step > 0) {
                        release(pipeline, oldest);
                    }
                }
            }
            wait_for_products<0>();
            settle(sum);
            release(pipeline, oldest);
            store(task, tile, sum);
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
__global__ void __cluster_dims__(blocks_of_cluster) __launch_bounds__(4 * warpgroup, 1)
    wgmma_3xtf32(__grid_constant__ Task const task)
{
    using Stage = SplitTiles;
    auto& pipeline = shared_layout<Pipeline<Stage>>();
    begin(pipeline, by_hand);
    if (threadIdx.x / warpgroup == multipliers) {
        keep_registers<56>();
        feed<by_hand>(task, pipeline);
    } else if (threadIdx.x / warpgroup == multipliers + 1) {
        keep_registers<64>();
        int const row = threadIdx.x % warpgroup;
        Turn<stages> turn;
        for_tiles<Stage>(task, [&](Tile const& tile) {
            for (int step = 0; step < tile.steps; ++step, ++turn) {
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
        Turn<stages> turn;
        Turn<stages> oldest;
        for_tiles<Stage>(task, [&](Tile const& tile) {
            float total[rows_of<Stage> / 2] = {};
            float sum[rows_of<Stage> / 2];
            for (int step = 0; step < tile.steps; ++step, ++turn) {
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
                        release(pipeline, oldest);
                    }
                }
            }
            wait_for_products<0>();
            settle(sum);
            release(pipeline, oldest);
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
void launch(void (*const (&kernels)[2])(Task), int threads, bool rounds, Matrix<float const> a,
            Matrix<float const> b, Matrix<float> c, cuda::Stream const& stream)
{
    Task task{};
    task.classes = has_aligned_rows(a.data, a.stride) ? 1 : most_classes;
    task.b = view_of(b);
    task.c = view_of(c);
    for (int r = 0; r < task.classes; ++r) {
        task.boxes_of_a[r] = float_boxes_of(class_of_rows(a, r, task.classes, task.before[r]),
                                            rows_of<Tiles> / blocks_of_cluster, rounds);
    }
    if (task.b.is_aligned) {
        task.boxes_of_b = float_boxes_of(b, depth_of_block, rounds);
    }
    auto const kernel = kernels[task.b.is_aligned ? 0 : 1];
    constexpr int bytes = sizeof(Pipeline<Tiles>);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    auto const rows = ceil_div(c.rows, task.classes);
    auto const tiles = task.classes * ceil_div(rows, rows_of<Tiles>) *
                       ceil_div(c.columns, blocks_of_cluster * columns_of_block);
    auto const clusters =
        std::min<std::int64_t>(tiles, cuda::multiprocessors() / blocks_of_cluster);
    kernel<<<static_cast<unsigned>(clusters * blocks_of_cluster), threads, bytes, stream.get()>>>(
        task);
    cuda::check_launch();
}

void launch_tf32(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                 cuda::Stream const& stream)
{
    launch<Tiles<256>>({wgmma_tf32<false>, wgmma_tf32<true>}, 3 * warpgroup, true, a, b, c, stream);
}

void launch_3xtf32(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
                   cuda::Stream const& stream)
{
    launch<SplitTiles>({wgmma_3xtf32<false>, wgmma_3xtf32<true>}, 4 * warpgroup, false, a, b, c,
                       stream);
}

std::string_view refuses_all_but_hopper(Matrix<float const> const&, Matrix<float const> const&,
                                        Matrix<float> const&)
{
    auto const why = "it is made for GPUs of compute capability 9.0";
    auto const before = refusal_before(90, why);
    return before.empty() && refusal_before(91, why).empty() ? why : before;
}

} // namespace

std::vector<Step<float>> wgmma_steps()
{
    return {{"wgmma_tf32", launch_tf32, refuses_all_but_hopper},
            {"wgmma_3xtf32", launch_3xtf32, refuses_all_but_hopper}};
}

} // namespace dense::gpu
