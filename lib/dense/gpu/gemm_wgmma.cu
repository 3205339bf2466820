#include "dense/gpu/gemm_wgmma.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/hopper.cuh"
#include "dense/gpu/tile.cuh"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace dense::gpu {

namespace {

constexpr int depth_of_stage = 64;
constexpr int rows_of_group = 64; // that a warpgroup multiplies at once
constexpr int swizzle_rows = swizzle_bytes / row_bytes;
constexpr int largest_cluster = 8;

/// A tile of c, and what a block keeps in shared memory for it. Each warpgroup multiplies 64 rows;
/// one more loads. A multiprocessor holds one block, with as many stages as fit: where tiles are
/// small, all of them must be on their way to keep memory busy.
template <class Element, int tile_rows, int tile_columns, int stage_count>
struct Tile
{
    using T = Element;
    static constexpr int rows = tile_rows;
    static constexpr int columns = tile_columns;
    static constexpr int stages = stage_count;
    static constexpr int groups = rows / rows_of_group;
    static constexpr int threads = warpgroup * (groups + 1);
    static constexpr int box = std::min(columns, row_elements); ///< its columns
    static constexpr int boxes = columns / box;
    static constexpr int pitch = columns + 4; ///< of sums in shared memory, against bank conflicts
    using Sums = float[columns / 2];          ///< of a thread

    struct Stage
    {
        T a[rows][depth_of_stage];
        T b[boxes][depth_of_stage][box];
    };
    struct alignas(swizzle_bytes) Memory
    {
        union {
            Stage stage[stages];
            float sums[rows][pitch]; ///< when nothing is loaded any more
        };
        T c[groups][boxes][rows_of_group][box];
        Barrier full[stages];
        Barrier empty[stages];
    };
    static_assert(sizeof(Stage) % swizzle_bytes == 0 && columns % box == 0);
    static_assert(sizeof(float[rows][pitch]) <= sizeof(Stage[stages]));
};

/// A tile whose part of b threads copy in place of the copy engine, or not.
template <class Tile, bool copies>
struct Loading : Tile
{
    static constexpr bool copies_b = copies;
    static constexpr int loaders = copies ? 4 : 1; ///< warps that load
};

/// What a launch is to do. Units are `down` x `across` tiles, whose blocks share what they load;
/// those from `whole` on are left to clusters, whose blocks divide the depth of each tile. An
/// example: pairs that share (2 x 1, clusters of two) make most units together, a tile each; of
/// those that are left each tile goes to a cluster of its own, whose two blocks divide its depth
/// and share no loads.
template <class T>
struct Work
{
    View<T const> b;
    T* c;
    std::int64_t stride;
    int rows, columns, depth;
    int tiles_down, tiles_across;
    int rows_of_last; ///< of a that are loaded for the lowest tiles
    int whole;
    int cluster;
    int down, across;
    bool boxes; ///< whether the copy engine can store c
    bool packs; ///< whether four elements of a row can be stored at once
    float alpha, beta;

    __device__ int units_down() const { return (tiles_down + down - 1) / down; }
    __device__ int units_across() const { return (tiles_across + across - 1) / across; }
    __device__ int shared() const { return down * across; } ///< tiles of a unit
};

/// Where a tile of c begins.
struct Corner
{
    int i = 0, j = 0;
};

/// The corner of tile `nth` of a unit, which are counted down first. Units that are made at the
/// same time make a patch of c: they read the same rows and columns, which the L2 then holds.
template <class Tile>
__device__ Corner corner_of(Work<typename Tile::T> const& work, int unit, int nth)
{
    auto const place = place_in_patch(unit, work.units_down(), work.units_across());
    return {(place.i * work.down + nth % work.down) * Tile::rows,
            (place.j * work.across + nth / work.down) * Tile::columns};
}

/// What a cluster makes of what is left over, if anything: a tile, and of its depth the stages that
/// are this block's.
struct Rest
{
    bool exists = false;
    Corner corner;
    int first = 0, last = 0;
};

template <class Tile>
__device__ Rest rest_of(Work<typename Tile::T> const& work, int rank)
{
    int const nth = static_cast<int>(blockIdx.x) / work.cluster;
    int const unit = work.whole + nth / work.shared();
    if (work.cluster == 1 || unit >= work.units_down() * work.units_across()) {
        return {};
    }
    std::int64_t const stages = (work.depth + depth_of_stage - 1) / depth_of_stage;
    return {true, corner_of<Tile>(work, unit, nth % work.shared()),
            static_cast<int>(stages * rank / work.cluster),
            static_cast<int>(stages * (rank + 1) / work.cluster)};
}

/// Calls `make(corner)` for each tile that this block makes by itself.
template <class Tile, class Make>
__device__ void for_own_tiles(Work<typename Tile::T> const& work, int rank, Make make)
{
    int const step = static_cast<int>(gridDim.x) / work.shared();
    int const nth = work.shared() > 1 ? rank : 0;
    for (int unit = static_cast<int>(blockIdx.x) / work.shared(); unit < work.whole; unit += step) {
        make(corner_of<Tile>(work, unit, nth));
    }
}

//! [wgmma_copies]
/// What a thread of the loading warpgroup copies of a tile of b: the same packs of 16 bytes of each
/// row of its own, to where the copy engine would put them. Neighbours among the threads take
/// neighbours of a row, and rows one below the other: where few columns lie without gaps, a warp
/// asks for whole lines.
template <class Tile>
class Copies
{
    using T = typename Tile::T;
    static constexpr int packs = Tile::columns / Pack<T>::size;
    static constexpr int rows_at_once = warpgroup / packs;
    static_assert(Tile::boxes == 1 && depth_of_stage % rows_at_once == 0);

public:
    /// Begins at row `k` of b and column `j`.
    __device__ void begin(View<T const> const& b, int k, int j)
    {
        from_ = b.data + (k + row()) * b.stride + j + pack() * Pack<T>::size;
        bytes_ = max(0, min(b.columns - j - pack() * Pack<T>::size, Pack<T>::size)) * sizeof(T);
    }

    /// Copies as many rows as are there, fills the tile up with zeros, and goes on to the next one.
    __device__ void copy(typename Tile::Stage& stage, std::int64_t stride, int rows_there)
    {
        int const swizzle = packs == 8 ? row() % 8 : row() / 2 % 4;
        T* const to = &stage.b[0][row()][(pack() ^ swizzle) * Pack<T>::size];
#pragma unroll
        for (int k = 0; k < depth_of_stage; k += rows_at_once) {
            copy_bytes(to + k * Tile::box, from_, row() + k < rows_there ? bytes_ : 0);
            from_ += rows_at_once * stride;
        }
    }

private:
    __device__ static int row()
    {
        return threadIdx.x % warpgroup / packs;
    }
    __device__ static int pack()
    {
        return threadIdx.x % packs;
    }

    T const* from_ = nullptr;
    int bytes_ = 0; ///< of each pack that are there
};
//! [wgmma_copies]

/// What the copy engine knows of a: boxes, and those of its last rows.
struct BoxesOfA
{
    CUtensorMap whole, last;
};

//! [wgmma_loads]
/// What the copy engine loads of a tile: boxes, but nothing that lies below a or beside b, which
/// nobody stores products of, and which takes the engine longer than what is there. Of the boxes
/// that `down` x `across` blocks need each of them loads its part, for all.
template <class Tile, int down, int across>
class Boxes
{
    using Stage = typename Tile::Stage;
    static constexpr int height = Tile::rows / across; ///< of a box of a

public:
    __device__ Boxes(Work<typename Tile::T> const& work, Corner corner, int rank)
        : corner_{corner}, down_{rank % down}, across_{rank / down}
    {
#pragma unroll
        for (int x = 0; x < across; ++x) {
            // Not asked of a clamped number of rows, of which nvcc 13.0 makes code that hangs.
            int const top = corner.i + x * height;
            bool const is_whole = top + height <= work.rows, is_below = top >= work.rows;
            bytes_ += (is_whole ? height : is_below ? 0 : work.rows_of_last) * sizeof(Stage::a[0]);
            if (across == 1 || x == across_) {
                is_whole_ = is_whole;
                is_below_ = is_below;
            }
        }
        if constexpr (!Tile::copies_b) {
            there_ = min((work.columns - corner.j + Tile::box - 1) / Tile::box, Tile::boxes);
            bytes_ += max(there_, 0) * sizeof(Stage::b[0]);
        }
    }

    /// One lane loads, from column `k` of a.
    __device__ void load(Stage& stage, BoxesOfA const& a, CUtensorMap const& b, int k,
                         Barrier& full) const
    {
        full.expect(bytes_);
        if (is_whole_) {
            load_a(stage, a.whole, k, full);
        } else if (!is_below_) {
            load_a(stage, a.last, k, full);
        }
#pragma unroll
        for (int box = 0; box < Tile::boxes; ++box) {
            int const j = corner_.j + box * Tile::box;
            if (box < there_ && down == 1) {
                load_box(stage.b[box], b, k, j, full);
            } else if (box < there_ && box % down == down_) {
                load_box(stage.b[box], b, k, j, full, ((1 << down) - 1) << across_ * down);
            }
        }
    }

private:
    __device__ void load_a(Stage& stage, CUtensorMap const& a, int k, Barrier& full) const
    {
        if constexpr (across == 1) {
            load_box(stage.a, a, corner_.i, k, full);
        } else {
            load_box(stage.a[across_ * height], a, corner_.i + across_ * height, k, full,
                     (1 | 1 << down) << down_);
        }
    }

    Corner corner_;
    int down_, across_;                        ///< this block among those that share
    bool is_whole_ = false, is_below_ = false; ///< its box of a
    int there_ = 0;                            ///< boxes of b
    int bytes_ = 0;                            ///< that come to this block
};

/// A warp loads all that its block multiplies, as early as stages are free. Where b is copied, all
/// warps of its warpgroup load.
template <class Tile, int down, int across>
__device__ void load_all(typename Tile::Memory& memory, BoxesOfA const& a, CUtensorMap const& b,
                         Work<typename Tile::T> const& work, Rest const& rest, int rank)
{
    Turn<Tile::stages> turn;
    [[maybe_unused]] std::conditional_t<Tile::copies_b, Copies<Tile>, int> copies{};
    bool const is_first = warp_of_block() % 4 == 0;
    auto const load = [&](auto const& boxes, Corner corner, int first, int last) {
        if constexpr (Tile::copies_b) {
            copies.begin(work.b, first * depth_of_stage, corner.j);
        }
        for (int k = first * depth_of_stage; k < last * depth_of_stage; k += depth_of_stage) {
            auto& stage = memory.stage[turn.stage];
            auto& full = memory.full[turn.stage];
            memory.empty[turn.stage].wait(turn.parity ^ 1);
            if (is_first && is_elected()) {
                boxes.load(stage, a, b, k, full);
            }
            if constexpr (Tile::copies_b) {
                copies.copy(stage, work.b.stride, work.depth - k);
                full.arrive_when_copied();
            }
            ++turn;
        }
    };
    int const stages = (work.depth + depth_of_stage - 1) / depth_of_stage;
    for_own_tiles<Tile>(work, rank, [&](Corner corner) {
        load(Boxes<Tile, down, across>{work, corner, rank}, corner, 0, stages);
    });
    if constexpr (across == 1) { // else the schedule leaves no rest
        load(Boxes<Tile, 1, 1>{work, rest.corner, 0}, rest.corner, rest.first, rest.last);
    }
}
//! [wgmma_loads]

//! [wgmma_sums]
/// A warpgroup's sums over so many steps of the depth. It begins the products of a step before it
/// waits for those of the step before, so that tensor cores never idle; only then is that one's
/// stage free. Tensor cores see what threads have copied once it is published.
template <class Tile>
__device__ void sum_up(typename Tile::Memory& memory, Turn<Tile::stages>& turn, int group,
                       int stages, int blocks, bool shares, typename Tile::Sums& sum)
{
    using T = typename Tile::T;
    int const thread = threadIdx.x % warpgroup;
    // The barrier of a stage was begun to wait for every block that shares, in any launch. So where
    // a block works by itself, as at the end, it arrives at its own as often as all would.
    auto const release = [&](int stage) {
        if (thread < blocks) {
            shares ? memory.empty[stage].arrive_at(thread) : memory.empty[stage].arrive();
        }
    };
    int before = -1;
    for (int s = 0; s < stages; ++s) {
        auto const& stage = memory.stage[turn.stage];
        memory.full[turn.stage].wait(turn.parity);
        if constexpr (Tile::copies_b) {
            publish_writes();
        }
        begin_products();
#pragma unroll
        for (int k = 0; k < depth_of_stage; k += 16) {
            multiply<T>(sum, operand(&stage.a[group * rows_of_group][k]),
                        operand<Tile::box * sizeof(T)>(stage.b[0][k], sizeof stage.b[0]),
                        s > 0 || k > 0);
        }
        commit_products();
        wait_for_products<1>();
        if (before >= 0) {
            release(before);
        }
        before = turn.stage;
        ++turn;
    }
    wait_for_products<0>();
    if (before >= 0) {
        release(before);
    }
}
//! [wgmma_sums]

/// A thread's place among the sums of its warpgroup: row and the first of two columns, the first of
/// which sums 0 and 1 belong to.
__device__ Corner first_sum()
{
    int const lane = threadIdx.x % 32;
    return {static_cast<int>(threadIdx.x % warpgroup / 32) * 16 + lane / 4, lane % 4 * 2};
}

/// Stores the sums of a warpgroup through shared memory and the copy engine, which goes on while
/// the next tile is multiplied.
template <class Tile>
__device__ void store_boxes(typename Tile::Memory& memory, CUtensorMap const& map, Corner corner,
                            int group, float alpha, typename Tile::Sums const& sum)
{
    using T = typename Tile::T;
    auto& boxes = memory.c[group];
    int const thread = threadIdx.x % warpgroup;
    if (thread == 0) {
        wait_until_read();
    }
    sync_warpgroup(group + 1);
    constexpr int packs = Tile::box / 8; // of a row of a box
    int const row = thread / 32 * 16 + thread % 16;
    int const swizzle = packs == 8 ? row % 8 : row / 2 % 4;
#pragma unroll
    for (int x = 0; x < Tile::columns / 16; ++x) {
        int const pack = 2 * x + thread % 32 / 16;
        float const* const s = sum + 8 * x;
        store_squares(&boxes[pack / packs][row][(pack % packs ^ swizzle) * 8],
                      packed<T>(alpha * s[0], alpha * s[1]), packed<T>(alpha * s[2], alpha * s[3]),
                      packed<T>(alpha * s[4], alpha * s[5]), packed<T>(alpha * s[6], alpha * s[7]));
    }
    publish_writes();
    sync_warpgroup(group + 1);
    if (thread == 0) {
        for (int box = 0; box < Tile::boxes; ++box) {
            store_box(map, corner.i + group * rows_of_group, corner.j + box * Tile::box,
                      boxes[box]);
        }
        commit_stores();
    }
}

/// The same where rows of c begin anywhere: each warp stores the rows that it made, two elements at
/// a time.
template <class Tile>
__device__ void store_rows(typename Tile::Memory& memory, Work<typename Tile::T> const& work,
                           Corner corner, int group, typename Tile::Sums const& sum)
{
    using T = typename Tile::T;
    using Pair = std::uint32_t;
    T* const lines = &memory.c[group][0][0][0]; // of 64 rows, packs of 8 swizzled
    auto const at = [&](int row, int j) {
        return lines + row * Tile::columns + (j / 8 ^ row % 4) * 8 + j % 8;
    };
    auto const own = first_sum();
#pragma unroll
    for (int x = 0; x < Tile::columns / 8; ++x) {
        float const* const s = sum + 4 * x;
        *reinterpret_cast<Pair*>(at(own.i, 8 * x + own.j)) =
            packed<T>(work.alpha * s[0], work.alpha * s[1]);
        *reinterpret_cast<Pair*>(at(own.i + 8, 8 * x + own.j)) =
            packed<T>(work.alpha * s[2], work.alpha * s[3]);
    }
    __syncwarp();
    int const lane = threadIdx.x % 32;
    int const top = threadIdx.x % warpgroup / 32 * 16;
    int const i = corner.i + group * rows_of_group;
    int const columns = min(Tile::columns, work.columns - corner.j);
    for (int row = top; row < top + 16 && i + row < work.rows; ++row) {
        T* const to = work.c + (i + row) * work.stride + corner.j;
        int const odd = reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % 2; // before the pairs
        if (lane == 0 && odd == 1 && columns > 0) {
            to[0] = *at(row, 0);
        }
        for (int j = odd + 2 * lane; j < columns; j += 64) {
            if (j + 1 < columns) {
                *reinterpret_cast<Pair*>(to + j) = static_cast<Pair>(at(row, j)->bits) |
                                                   static_cast<Pair>(at(row, j + 1)->bits) << 16;
            } else {
                to[j] = *at(row, j);
            }
        }
    }
    __syncwarp();
}

/// The same with what c holds, which is read.
template <class Tile>
__device__ void add_to_rows(Work<typename Tile::T> const& work, Corner corner, int group,
                            typename Tile::Sums const& sum)
{
    auto const own = first_sum();
#pragma unroll
    for (int below = 0; below < 2; ++below) {
        int const i = corner.i + group * rows_of_group + own.i + 8 * below;
#pragma unroll
        for (int x = 0; x < Tile::columns / 4; ++x) {
            int const j = corner.j + x / 2 * 8 + own.j + x % 2;
            if (i < work.rows && j < work.columns) {
                auto& to = work.c[i * work.stride + j];
                narrow(scaled(work.alpha, sum[x / 2 * 4 + 2 * below + x % 2], work.beta, to), to);
            }
        }
    }
}

/// Leaves the sums of a warpgroup in shared memory for the other blocks of the cluster.
template <class Tile>
__device__ void leave_sums(typename Tile::Memory& memory, int group, bool are_zero,
                           typename Tile::Sums const& sum)
{
    // All warpgroups have multiplied what the stages held; barriers 1 and 2 may still be in use.
    asm volatile("bar.sync 3, %0;" ::"n"(Tile::groups * warpgroup) : "memory");
    auto const own = first_sum();
    int const i = group * rows_of_group + own.i;
#pragma unroll
    for (int x = 0; x < Tile::columns / 8; ++x) {
        float const* const s = sum + 4 * x;
        int const j = 8 * x + own.j;
        *reinterpret_cast<float2*>(&memory.sums[i][j]) =
            are_zero ? float2{} : make_float2(s[0], s[1]);
        *reinterpret_cast<float2*>(&memory.sums[i + 8][j]) =
            are_zero ? float2{} : make_float2(s[2], s[3]);
    }
}

//! [wgmma_rest]
/// Adds up what the blocks of a cluster have left in their shared memory, always in the same order,
/// the warpgroups of each block that have multiplied a part of the tile.
template <class Tile>
__device__ void add_up(typename Tile::Memory const& memory, Work<typename Tile::T> const& work,
                       Corner corner, int rank)
{
    using T = typename Tile::T;
    constexpr int packs = Tile::columns / 4, threads = Tile::groups * warpgroup;
    int const rows = min(Tile::rows, work.rows - corner.i);
    int const columns = min(Tile::columns, work.columns - corner.j);
    int const step = work.cluster * threads;
    auto const place = [&](int n) {
        int const e = rank * threads + threadIdx.x + n * step;
        return Corner{e / packs, e % packs * 4};
    };
    auto const at = [&](int n) {
        auto const [i, j] = place(n);
        return i < rows && j < columns ? reinterpret_cast<float4 const*>(&memory.sums[i][j])
                                       : nullptr;
    };
    auto const store = [&](int n, float4 const& total) {
        auto const [i, j] = place(n);
        float const sum[4]{total.x, total.y, total.z, total.w};
        T* const to = work.c + (corner.i + i) * work.stride + corner.j + j;
        if (work.beta == 0 && work.packs && j + 4 <= columns) {
            *reinterpret_cast<uint2*>(to) =
                make_uint2(packed<T>(work.alpha * sum[0], work.alpha * sum[1]),
                           packed<T>(work.alpha * sum[2], work.alpha * sum[3]));
        } else {
            for (int x = 0; x < min(4, columns - j); ++x) {
                narrow(scaled(work.alpha, sum[x], work.beta, to[x]), to[x]);
            }
        }
    };
    add_up_cluster<Tile::rows * packs / threads / 2, float4>(
        0, rank, work.cluster, (rows * packs + step - 1) / step, at, store);
}
//! [wgmma_rest]

//! [wgmma_tiles]
/// A block makes tile after tile, one warpgroup loading, the others multiplying. At the end
/// clusters make what is left over, each a tile, and each of its blocks a part of the depth.
template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 1)
    wgmma_tiles(__grid_constant__ BoxesOfA const boxes_of_a,
                __grid_constant__ CUtensorMap const map_b,
                __grid_constant__ CUtensorMap const map_c, Work<typename Tile::T> work)
{
    auto& memory = shared_layout<typename Tile::Memory>();
    int const rank = work.cluster > 1 ? block_rank() : 0;
    if (threadIdx.x == 0) {
        prefetch(boxes_of_a.whole);
        prefetch(boxes_of_a.last);
        prefetch(map_b);
        for (int stage = 0; stage < Tile::stages; ++stage) {
            memory.full[stage].init(Tile::copies_b ? 1 + warpgroup : 1);
            memory.empty[stage].init(Tile::groups * work.shared());
        }
        publish_barriers();
    }
    work.cluster > 1 ? sync_cluster() : __syncthreads();
    let_next_begin();
    wait_for_previous();
    auto const rest = rest_of<Tile>(work, rank);
    int const group = warp_of_block() / 4;
    if (group == Tile::groups) {
        if constexpr (Tile::groups > 1) {
            keep_registers<56>();
        }
        if (warp_of_block() % 4 < Tile::loaders) {
            if (work.across == 1) {
                work.down == 1 ? load_all<Tile, 1, 1>(memory, boxes_of_a, map_b, work, rest, rank)
                               : load_all<Tile, 2, 1>(memory, boxes_of_a, map_b, work, rest, rank);
            } else {
                work.down == 1 ? load_all<Tile, 1, 2>(memory, boxes_of_a, map_b, work, rest, rank)
                               : load_all<Tile, 2, 2>(memory, boxes_of_a, map_b, work, rest, rank);
            }
        }
    } else {
        if constexpr (Tile::groups > 1) {
            take_registers<224>();
        }
        Turn<Tile::stages> turn;
        typename Tile::Sums sum;
        int const stages = (work.depth + depth_of_stage - 1) / depth_of_stage;
        for_own_tiles<Tile>(work, rank, [&](Corner corner) {
            sum_up<Tile>(memory, turn, group, stages, work.shared(), work.shared() > 1, sum);
            if (work.boxes) {
                store_boxes<Tile>(memory, map_c, corner, group, work.alpha, sum);
            } else if (work.beta == 0) {
                store_rows<Tile>(memory, work, corner, group, sum);
            } else {
                add_to_rows<Tile>(work, corner, group, sum);
            }
        });
        if (work.boxes && threadIdx.x % warpgroup == 0) {
            wait_until_read();
        }
        if (rest.exists) {
            int const part = rest.last - rest.first;
            sum_up<Tile>(memory, turn, group, part, work.shared(), false, sum);
            leave_sums<Tile>(memory, group, part == 0, sum);
        }
    }
    if (rest.exists) {
        sync_cluster();
        if (group < Tile::groups) {
            add_up<Tile>(memory, work, rest.corner, rank);
        }
    }
    if (work.cluster > 1) {
        sync_cluster(); // no block ends while another one needs its barriers or sums
    }
}
//! [wgmma_tiles]

struct Scaling
{
    float alpha, beta;
};

template <class T>
using Wide = Tile<T, 128, 256, 3>;
template <class T>
using Broad = Tile<T, 128, 192, 4>;
template <class T>
using Square = Tile<T, 128, 128, 6>;
template <class T>
using Flat = Tile<T, 64, 192, 6>;
template <class T>
using Low = Tile<T, 64, 128, 8>;
template <class T>
using Small = Tile<T, 64, 64, 12>;
template <class T>
using Narrow = Tile<T, 64, 32, 16>;

/// A launch of so many blocks in clusters of so many; not to be moved.
template <class Tile>
struct Launch
{
    cudaLaunchConfig_t config{};
    cudaLaunchAttribute attributes[2]{};

    Launch(std::int64_t blocks, int cluster, cudaStream_t stream)
    {
        constexpr int bytes = sizeof(typename Tile::Memory);
        cuda::check(cudaFuncSetAttribute(wgmma_tiles<Tile>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        config.gridDim = dim3(static_cast<unsigned>(blocks));
        config.blockDim = dim3(Tile::threads);
        config.dynamicSmemBytes = bytes;
        config.stream = stream;
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
        // Barriers are made while the kernel before ends: it waits for that one itself.
        attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[1].val.programmaticStreamSerializationAllowed = 1;
        config.attrs = attributes;
        config.numAttrs = 2;
    }
    Launch(Launch const&) = delete;
    Launch& operator=(Launch const&) = delete;
};

} // namespace

int clusters_at_once(int blocks)
{
    constexpr int devices = 64;
    static std::array<std::array<std::atomic<int>, largest_cluster + 1>, devices> known{};
    int device = 0;
    cuda::check(cudaGetDevice(&device));
    auto& count = known.at(static_cast<std::size_t>(device)).at(static_cast<std::size_t>(blocks));
    if (count == 0) {
        using Largest = Loading<Wide<base::bf16>, false>;
        Launch<Largest> const launch{blocks, blocks, nullptr};
        int found = 0;
        cuda::check(cudaOccupancyMaxActiveClusters(&found, wgmma_tiles<Largest>, &launch.config));
        count = std::max(found, 1);
    }
    return count;
}

namespace {

template <class Tile>
void launch(WgmmaPlan const& plan, Scaling scaling, Matrix<typename Tile::T const> a,
            Matrix<typename Tile::T const> b, Matrix<typename Tile::T> c,
            cuda::Stream const& stream)
{
    using T = typename Tile::T;
    auto const planned = schedule(plan, wgmma_problem(a, b));
    Work<T> work{};
    work.b = view_of(b);
    work.c = c.data;
    work.stride = c.stride;
    work.rows = static_cast<int>(c.rows);
    work.columns = static_cast<int>(c.columns);
    work.depth = static_cast<int>(a.columns);
    work.tiles_down = static_cast<int>(ceil_div(c.rows, Tile::rows));
    work.tiles_across = static_cast<int>(ceil_div(c.columns, Tile::columns));
    work.whole = static_cast<int>(planned.whole);
    work.cluster = plan.cluster;
    work.down = plan.down;
    work.across = plan.across;
    int const height = Tile::rows / plan.across; // of a box of a
    work.rows_of_last =
        static_cast<int>(ceil_div((work.rows - 1) % height + 1, swizzle_rows)) * swizzle_rows;
    // The copy engine stores whole packs: no row of c may end within one.
    work.boxes =
        scaling.beta == 0 && has_aligned_rows(c.data, c.stride) && c.columns % Pack<T>::size == 0;
    work.packs = reinterpret_cast<std::uintptr_t>(c.data) % 8 == 0 && c.stride % 4 == 0;
    work.alpha = scaling.alpha;
    work.beta = scaling.beta;
    BoxesOfA const boxes_of_a{boxes_of(a, height, depth_of_stage),
                              boxes_of(a, work.rows_of_last, depth_of_stage)};
    auto const map_b = boxes_of(b, depth_of_stage, Tile::box);
    auto const map_c = work.boxes ? boxes_of(Matrix<T const>{c}, rows_of_group, Tile::box) : map_b;
    Launch<Tile> const launch{planned.blocks, plan.cluster, stream.get()};
    cuda::check(
        cudaLaunchKernelEx(&launch.config, wgmma_tiles<Tile>, boxes_of_a, map_b, map_c, work));
}

/// The same of a tile that is loaded as planned.
template <class Tile, class... Arguments>
void launch_loading(WgmmaPlan const& plan, Arguments const&... arguments)
{
    if (!plan.copies_b) {
        launch<Loading<Tile, false>>(plan, arguments...);
    } else if constexpr (Tile::boxes == 1) {
        launch<Loading<Tile, true>>(plan, arguments...);
    } else {
        throw std::invalid_argument{"multiply_by_wgmma: no " + plan.text()};
    }
}

/// Bytes, 128 at most, that all rows begin at multiples of.
template <class T>
int alignment_of(Matrix<T const> const& m)
{
    auto const bits = reinterpret_cast<std::uintptr_t>(m.data) |
                      static_cast<std::uintptr_t>(m.stride) * sizeof(T) | 128;
    return 1 << std::countr_zero(bits);
}

} // namespace

template <class T>
WgmmaProblem wgmma_problem(Matrix<T const> const& a, Matrix<T const> const& b)
{
    return {a.rows, b.columns, a.columns, alignment_of(a), alignment_of(b), clusters_at_once};
}

template <class T>
void multiply_by_wgmma(WgmmaPlan const& plan, double alpha, Matrix<T const> a, Matrix<T const> b,
                       double beta, Matrix<T> c, cuda::Stream const& stream)
{
    Scaling const scaling{static_cast<float>(alpha), static_cast<float>(beta)};
    auto const is = [&](auto tile) {
        return plan.rows == decltype(tile)::rows && plan.columns == decltype(tile)::columns;
    };
    auto const is_shared_by = [](int blocks) { return blocks == 1 || blocks == 2; };
    if (plan.cluster < 1 || plan.cluster > largest_cluster || !is_shared_by(plan.down) ||
        !is_shared_by(plan.across) || (plan.shared() > 1 && plan.cluster != plan.shared())) {
        throw std::invalid_argument{"multiply_by_wgmma: no clusters of " +
                                    std::to_string(plan.cluster) + " for " + plan.text()};
    }
    if (is(Wide<T>{})) {
        launch_loading<Wide<T>>(plan, scaling, a, b, c, stream);
    } else if (is(Broad<T>{})) {
        launch_loading<Broad<T>>(plan, scaling, a, b, c, stream);
    } else if (is(Square<T>{})) {
        launch_loading<Square<T>>(plan, scaling, a, b, c, stream);
    } else if (is(Flat<T>{})) {
        launch_loading<Flat<T>>(plan, scaling, a, b, c, stream);
    } else if (is(Low<T>{})) {
        launch_loading<Low<T>>(plan, scaling, a, b, c, stream);
    } else if (is(Small<T>{})) {
        launch_loading<Small<T>>(plan, scaling, a, b, c, stream);
    } else if (is(Narrow<T>{})) {
        launch_loading<Narrow<T>>(plan, scaling, a, b, c, stream);
    } else {
        throw std::invalid_argument{"multiply_by_wgmma: no " + plan.text()};
    }
}

#define INSTANTIATE(T)                                                                             \
    template WgmmaProblem wgmma_problem(Matrix<T const> const&, Matrix<T const> const&);           \
    template void multiply_by_wgmma(WgmmaPlan const&, double, Matrix<T const>, Matrix<T const>,    \
                                    double, Matrix<T>, cuda::Stream const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
