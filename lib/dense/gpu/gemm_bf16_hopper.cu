#include "dense/gpu/gemm_bf16.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "dense/gpu/hopper.cuh"

#include <algorithm>

namespace dense::gpu {

namespace {

// Two warpgroups of a block multiply, each 64 rows of its tile; one more warp feeds them.
constexpr int multipliers = 2;
constexpr int rows_of_warpgroup = 64;
constexpr int multiplying_threads = multipliers * warpgroup;
constexpr int all_threads = multiplying_threads + 32;
constexpr int packs = row_bytes / static_cast<int>(sizeof(Pack<bf16>)); // of a row of a box
constexpr int blocks_of_cluster = 2;

/// A tile of each operand: b lies as boxes side by side, 64 columns each.
template <int columns>
struct Tiles
{
    Pack<bf16> a[rows_of_block * packs];
    Pack<bf16> b[columns / row_elements][depth_of_block * packs];
};

constexpr int stages_of_copies = 3;

//! [bf16_wgmma]
/// A warpgroup multiplies 64 x 128 x 16 at once, and tensor cores read both operands from shared
/// memory themselves. The next copies begin while they work.
__global__ void __launch_bounds__(multiplying_threads, 2)
    bf16_wgmma(View<bf16 const> a, View<bf16 const> b, View<bf16> c)
{
    constexpr int threads = multiplying_threads;
    constexpr int stages = stages_of_copies;
    auto& tiles = shared_layout<Tiles<columns_of_block>[stages]>();
    int const tiles_down = static_cast<int>(ceil_div(c.rows, rows_of_block));
    int const i0 = blockIdx.x % tiles_down * rows_of_block;
    int const j0 = blockIdx.x / tiles_down * columns_of_block;
    // What this thread loads: a pack of every so manyth row of both tiles.
    int const row_a = threadIdx.x / packs_a, pack_a = threadIdx.x % packs_a;
    int const row_b = threadIdx.x / packs_b, pack_b = threadIdx.x % packs_b;
    bf16 const* from_a = a.data + (i0 + row_a) * a.stride + pack_a * wide;
    bf16 const* from_b = b.data + row_b * b.stride + j0 + pack_b * wide;
    int const iw = threadIdx.x / warpgroup * rows_of_warpgroup;
    auto const fetch = [&](int stage, int k0) {
        Pack<bf16>* const to_a = tiles[stage].a + swizzled<packs>(row_a, pack_a);
        Pack<bf16>* const to_b =
            tiles[stage].b[pack_b / packs] + swizzled<packs>(row_b, pack_b % packs);
        if (k0 < a.columns) {
#pragma unroll
            for (int i = 0; i < rows_of_block; i += threads / packs_a) {
                copy_pack(&to_a[i * packs], from_a + i * a.stride,
                          i0 + row_a + i < a.rows && k0 + pack_a * wide < a.columns);
            }
#pragma unroll
            for (int k = 0; k < depth_of_block; k += threads / packs_b) {
                copy_pack(&to_b[k * packs], from_b + k * b.stride,
                          k0 + row_b + k < b.rows && j0 + pack_b * wide < b.columns);
            }
            from_a += depth_of_block;
            from_b += depth_of_block * b.stride;
        }
        __pipeline_commit();
    };
    float sum[columns_of_block / 2];
    for (int stage = 0; stage < stages - 1; ++stage) {
        fetch(stage, stage * depth_of_block);
    }
    int stage = 0;
    for (int k0 = 0; k0 < a.columns; k0 += depth_of_block) {
        __pipeline_wait_prior(stages - 2);
        publish_writes();
        __syncthreads();
        begin_products();
#pragma unroll
        for (int k = 0; k < depth_of_block; k += 16) {
            multiply<bf16>(sum, operand(tiles[stage].a + iw * packs + k / wide),
                           operand(tiles[stage].b[0] + k * packs, sizeof tiles[stage].b[0]),
                           k0 + k > 0);
        }
        commit_products();
        fetch((stage + stages - 1) % stages, k0 + (stages - 1) * depth_of_block);
        wait_for_products<0>();
        stage = (stage + 1) % stages;
    }
    int const to_i = i0 + iw + threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 32 / 4;
    int const pair = threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < columns_of_block; j += 8) {
        store_pair(c, to_i, j0 + j + pair, sum[j / 2], sum[j / 2 + 1]);
        store_pair(c, to_i + 8, j0 + j + pair, sum[j / 2 + 2], sum[j / 2 + 3]);
    }
}
//! [bf16_wgmma]

/// What a block has in shared memory: stages that the copy engine fills, and for each a barrier for
/// those that wait until it is full, another for the one that waits until it is empty. With narrow
/// tiles a multiprocessor has room for two blocks.
template <int columns>
struct Pipeline
{
    static constexpr bool is_wide = columns > columns_of_block;
    static constexpr int stages = is_wide ? 4 : 3;
    static constexpr int blocks = is_wide ? 1 : 2;
    Tiles<columns> tiles[stages];
    Barrier full[stages];
    Barrier empty[stages];
};

//! [bf16_tma]
/// One thread tells the copy engine what to fetch, whole tiles, as far ahead as there are stages;
/// nobody else computes an address. Barriers say when a stage is full, and when it is empty again.
template <int columns>
__global__ void __launch_bounds__(all_threads, Pipeline<columns>::blocks)
    bf16_tma(__grid_constant__ CUtensorMap const map_a, __grid_constant__ CUtensorMap const map_b,
             View<bf16> c, int depth)
{
    using P = Pipeline<columns>;
    auto& [tiles, full, empty] = shared_layout<P>();
    int const tiles_down = static_cast<int>(ceil_div(c.rows, rows_of_block));
    int const i0 = blockIdx.x % tiles_down * rows_of_block;
    int const j0 = blockIdx.x / tiles_down * columns;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < P::stages; ++stage) {
            full[stage].init(1);
            empty[stage].init(multipliers);
        }
        publish_barriers();
    }
    __syncthreads();
    Turn<P::stages> turn;
    if (threadIdx.x == multiplying_threads) {
        for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
            auto& [to_a, to_b] = tiles[turn.stage];
            empty[turn.stage].wait(turn.parity ^ 1);
            full[turn.stage].expect(sizeof to_a + sizeof to_b);
            load_box(to_a, map_a, i0, k0, full[turn.stage]);
            for (int box = 0; box < columns / row_elements; ++box) {
                load_box(to_b[box], map_b, k0, j0 + box * row_elements, full[turn.stage]);
            }
        }
    } else if (threadIdx.x < multiplying_threads) {
        int const iw = threadIdx.x / warpgroup * rows_of_warpgroup;
        float sum[columns / 2];
        Turn<P::stages> done;
        for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
            auto const& [of_a, of_b] = tiles[turn.stage];
            full[turn.stage].wait(turn.parity);
            begin_products();
#pragma unroll
            for (int k = 0; k < depth_of_block; k += 16) {
                multiply<bf16>(sum, operand(of_a + iw * packs + k / wide),
                               operand(of_b[0] + k * packs, sizeof of_b[0]), k0 + k > 0);
            }
            commit_products();
            wait_for_products<1>(); // for those of the stage before
            if (k0 > 0) {
                if (threadIdx.x % warpgroup == 0) {
                    empty[done.stage].arrive();
                }
                ++done;
            }
        }
        wait_for_products<0>();
        int const to_i = i0 + iw + threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 32 / 4;
        int const pair = threadIdx.x % 4 * 2;
#pragma unroll
        for (int j = 0; j < columns; j += 8) {
            store_pair(c, to_i, j0 + j + pair, sum[j / 2], sum[j / 2 + 1]);
            store_pair(c, to_i + 8, j0 + j + pair, sum[j / 2 + 2], sum[j / 2 + 3]);
        }
    }
}
//! [bf16_tma]

constexpr int wide_columns = 256;

//! [bf16_cluster]
/// Two blocks, one above the other, need the same tile of b: each fetches half of it, and the copy
/// engine puts that into the shared memory of both.
__global__ void __launch_bounds__(all_threads, 1)
    bf16_cluster(__grid_constant__ CUtensorMap const map_a,
                 __grid_constant__ CUtensorMap const map_b, View<bf16> c, int depth)
{
    constexpr int columns = wide_columns;
    using P = Pipeline<columns>;
    auto& [tiles, full, empty] = shared_layout<P>();
    int const lines = static_cast<int>(ceil_div(c.rows, blocks_of_cluster * rows_of_block));
    int const rank = block_rank();
    int const cluster = blockIdx.x / blocks_of_cluster;
    int const i0 = (cluster % lines * blocks_of_cluster + rank) * rows_of_block;
    int const j0 = cluster / lines * columns;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < P::stages; ++stage) {
            full[stage].init(1);
            empty[stage].init(multipliers * blocks_of_cluster);
        }
        publish_barriers();
    }
    sync_cluster();
    Turn<P::stages> turn;
    if (threadIdx.x == multiplying_threads) {
        for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
            auto& [to_a, to_b] = tiles[turn.stage];
            empty[turn.stage].wait(turn.parity ^ 1);
            full[turn.stage].expect(sizeof to_a + sizeof to_b);
            load_box(to_a, map_a, i0, k0, full[turn.stage]);
            for (int e = 0; e < columns / row_elements / blocks_of_cluster; ++e) {
                int const box = e * blocks_of_cluster + rank;
                load_box(to_b[box], map_b, k0, j0 + box * row_elements, full[turn.stage], 0b11);
            }
        }
    } else if (threadIdx.x < multiplying_threads) {
        int const iw = threadIdx.x / warpgroup * rows_of_warpgroup;
        float sum[columns / 2];
        Turn<P::stages> done;
        for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
            auto const& [of_a, of_b] = tiles[turn.stage];
            full[turn.stage].wait(turn.parity);
            begin_products();
#pragma unroll
            for (int k = 0; k < depth_of_block; k += 16) {
                multiply<bf16>(sum, operand(of_a + iw * packs + k / wide),
                               operand(of_b[0] + k * packs, sizeof of_b[0]), k0 + k > 0);
            }
            commit_products();
            wait_for_products<1>(); // for those of the stage before
            if (k0 > 0) {
                if (threadIdx.x % warpgroup < blocks_of_cluster) {
                    empty[done.stage].arrive_at(threadIdx.x % warpgroup);
                }
                ++done;
            }
        }
        wait_for_products<0>();
        int const to_i = i0 + iw + threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 32 / 4;
        int const pair = threadIdx.x % 4 * 2;
#pragma unroll
        for (int j = 0; j < columns; j += 8) {
            store_pair(c, to_i, j0 + j + pair, sum[j / 2], sum[j / 2 + 1]);
            store_pair(c, to_i + 8, j0 + j + pair, sum[j / 2 + 2], sum[j / 2 + 3]);
        }
    }
    sync_cluster(); // no block ends while the other one still arrives at its barriers
}
//! [bf16_cluster]

//! [bf16_persistent]
/// As many clusters as there is room for take tile after tile: while one is stored, the stages fill
/// with the next. Clusters that run together make a patch `height` pairs of tiles high.
__global__ void __launch_bounds__(all_threads, 1)
    bf16_persistent(__grid_constant__ CUtensorMap const map_a,
                    __grid_constant__ CUtensorMap const map_b, View<bf16> c, int depth, int height)
{
    constexpr int columns = wide_columns;
    using P = Pipeline<columns>;
    auto& [tiles, full, empty] = shared_layout<P>();
    int const lines = static_cast<int>(ceil_div(c.rows, blocks_of_cluster * rows_of_block));
    int const across = static_cast<int>(ceil_div(c.columns, columns));
    int const rank = block_rank();
    int const clusters = gridDim.x / blocks_of_cluster;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < P::stages; ++stage) {
            full[stage].init(1);
            empty[stage].init(multipliers * blocks_of_cluster);
        }
        publish_barriers();
    }
    sync_cluster();
    Turn<P::stages> turn;
    if (threadIdx.x == multiplying_threads) {
        for (int at = blockIdx.x / blocks_of_cluster; at < lines * across; at += clusters) {
            Place const place = place_in_patch(at, lines, across, height);
            int const i0 = (place.i * blocks_of_cluster + rank) * rows_of_block;
            int const j0 = place.j * columns;
            for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
                auto& [to_a, to_b] = tiles[turn.stage];
                empty[turn.stage].wait(turn.parity ^ 1);
                full[turn.stage].expect(sizeof to_a + sizeof to_b);
                load_box(to_a, map_a, i0, k0, full[turn.stage]);
                for (int e = 0; e < columns / row_elements / blocks_of_cluster; ++e) {
                    int const box = e * blocks_of_cluster + rank;
                    load_box(to_b[box], map_b, k0, j0 + box * row_elements, full[turn.stage], 0b11);
                }
            }
        }
    } else if (threadIdx.x < multiplying_threads) {
        int const iw = threadIdx.x / warpgroup * rows_of_warpgroup;
        Turn<P::stages> done;
        auto const release = [&] {
            if (threadIdx.x % warpgroup < blocks_of_cluster) {
                empty[done.stage].arrive_at(threadIdx.x % warpgroup);
            }
            ++done;
        };
        for (int at = blockIdx.x / blocks_of_cluster; at < lines * across; at += clusters) {
            Place const place = place_in_patch(at, lines, across, height);
            int const i0 = (place.i * blocks_of_cluster + rank) * rows_of_block;
            int const j0 = place.j * columns;
            float sum[columns / 2];
            for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
                auto const& [of_a, of_b] = tiles[turn.stage];
                full[turn.stage].wait(turn.parity);
                begin_products();
#pragma unroll
                for (int k = 0; k < depth_of_block; k += 16) {
                    multiply<bf16>(sum, operand(of_a + iw * packs + k / wide),
                                   operand(of_b[0] + k * packs, sizeof of_b[0]), k0 + k > 0);
                }
                commit_products();
                wait_for_products<1>(); // for those of the stage before
                if (k0 > 0) {
                    release();
                }
            }
            wait_for_products<0>();
            release();
            int const to_i = i0 + iw + threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 32 / 4;
            int const pair = threadIdx.x % 4 * 2;
#pragma unroll
            for (int j = 0; j < columns; j += 8) {
                store_pair(c, to_i, j0 + j + pair, sum[j / 2], sum[j / 2 + 1]);
                store_pair(c, to_i + 8, j0 + j + pair, sum[j / 2 + 2], sum[j / 2 + 3]);
            }
        }
    }
    sync_cluster(); // no block ends while the other one still arrives at its barriers
}
//! [bf16_persistent]

/// As `Pipeline`, one stage less and a place for the tile of c that is being stored: boxes of 64
/// columns for each warpgroup.
template <class Full, class Empty>
struct StoringPipeline
{
    static constexpr int stages = 3;
    Tiles<wide_columns> tiles[stages];
    Pack<bf16> sums[multipliers][wide_columns / row_elements][rows_of_warpgroup * packs];
    Full full[stages];
    Empty empty[stages];
};

//! [bf16_hidden_stores]
/// Sums go through shared memory to the copy engine, which stores a tile while the next one is
/// multiplied.
template <class Full, class Empty>
__global__ void __launch_bounds__(all_threads, 1)
    bf16_hidden_stores(__grid_constant__ CUtensorMap const map_a,
                       __grid_constant__ CUtensorMap const map_b,
                       __grid_constant__ CUtensorMap const map_c, int rows, int all_columns,
                       int depth, int height)
{
    constexpr int columns = wide_columns;
    using P = StoringPipeline<Full, Empty>;
    auto& [tiles, sums, full, empty] = shared_layout<P>();
    int const lines = static_cast<int>(ceil_div(rows, blocks_of_cluster * rows_of_block));
    int const across = static_cast<int>(ceil_div(all_columns, columns));
    int const rank = block_rank();
    int const clusters = gridDim.x / blocks_of_cluster;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < P::stages; ++stage) {
            full[stage].init(1);
            empty[stage].init(multipliers * blocks_of_cluster);
        }
        publish_barriers();
    }
    sync_cluster();
    Turn<P::stages> turn;
    if (threadIdx.x == multiplying_threads) {
        for (int at = blockIdx.x / blocks_of_cluster; at < lines * across; at += clusters) {
            Place const place = place_in_patch(at, lines, across, height);
            int const i0 = (place.i * blocks_of_cluster + rank) * rows_of_block;
            int const j0 = place.j * columns;
            for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
                auto& [to_a, to_b] = tiles[turn.stage];
                empty[turn.stage].wait(turn.parity ^ 1);
                full[turn.stage].expect(sizeof to_a + sizeof to_b);
                load_box(to_a, map_a, i0, k0, full[turn.stage]);
                for (int e = 0; e < columns / row_elements / blocks_of_cluster; ++e) {
                    int const box = e * blocks_of_cluster + rank;
                    load_box(to_b[box], map_b, k0, j0 + box * row_elements, full[turn.stage], 0b11);
                }
            }
        }
    } else if (threadIdx.x < multiplying_threads) {
        int const own = threadIdx.x / warpgroup;
        int const iw = own * rows_of_warpgroup;
        Turn<P::stages> done;
        auto const release = [&] {
            if (threadIdx.x % warpgroup < blocks_of_cluster) {
                empty[done.stage].arrive_at(threadIdx.x % warpgroup);
            }
            ++done;
        };
        for (int at = blockIdx.x / blocks_of_cluster; at < lines * across; at += clusters) {
            Place const place = place_in_patch(at, lines, across, height);
            int const i0 = (place.i * blocks_of_cluster + rank) * rows_of_block;
            int const j0 = place.j * columns;
            float sum[columns / 2];
            for (int k0 = 0; k0 < depth; k0 += depth_of_block, ++turn) {
                auto const& [of_a, of_b] = tiles[turn.stage];
                full[turn.stage].wait(turn.parity);
                begin_products();
#pragma unroll
                for (int k = 0; k < depth_of_block; k += 16) {
                    multiply<bf16>(sum, operand(of_a + iw * packs + k / wide),
                                   operand(of_b[0] + k * packs, sizeof of_b[0]), k0 + k > 0);
                }
                commit_products();
                wait_for_products<1>(); // for those of the stage before
                if (k0 > 0) {
                    release();
                }
            }
            wait_for_products<0>();
            release();
            if (threadIdx.x % warpgroup == 0) {
                wait_until_read(); // the tile before
            }
            sync_warpgroup(1 + own);
            int const row = threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 16;
#pragma unroll
            for (int j = 0; j < columns; j += 16) {
                int const pack = j / wide + threadIdx.x % 32 / 16;
                float const* const two = sum + j / 2; // pieces of 16 x 8
                store_squares(&sums[own][pack / packs][swizzled<packs>(row, pack % packs)],
                              packed<bf16>(two[0], two[1]), packed<bf16>(two[2], two[3]),
                              packed<bf16>(two[4], two[5]), packed<bf16>(two[6], two[7]));
            }
            publish_writes();
            sync_warpgroup(1 + own);
            if (threadIdx.x % warpgroup == 0) {
                for (int box = 0; box < columns / row_elements; ++box) {
                    store_box(map_c, i0 + iw, j0 + box * row_elements, sums[own][box]);
                }
                commit_stores();
            }
        }
        if (threadIdx.x % warpgroup == 0) {
            wait_until_read();
        }
    }
    sync_cluster(); // no block ends while the other one still arrives at its barriers
}
//! [bf16_hidden_stores]

// --- what the last step costs without one thing -------------------------------------------------

//! [bf16_fences]
/// A barrier whose instructions name the cluster as their scope, as its threads share it. For each
/// of them the compiler then flushes to the second-level cache and empties the first.
struct FencedBarrier : Barrier
{
    __device__ void arrive_at(int rank)
    {
        asm volatile("{\n"
                     ".reg .b32 remote;\n"
                     "mapa.shared::cluster.u32 remote, %0, %1;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
                     "}" ::"r"(address(this)),
                     "r"(rank)
                     : "memory");
    }
    __device__ void wait(int parity)
    {
        asm volatile("{\n"
                     ".reg .pred ended;\n"
                     "again:\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ended, [%0], %1;\n"
                     "@!ended bra again;\n"
                     "}" ::"r"(address(this)),
                     "r"(parity)
                     : "memory");
    }
};
//! [bf16_fences]

//! [bf16_without_loads]
/// A barrier of a stage that is loaded once: later phases end without a byte.
struct LoadedOnce : Barrier
{
    int phases;

    __device__ void init(int arrivals)
    {
        Barrier::init(arrivals);
        phases = 0;
    }
    __device__ void expect(int bytes)
    {
        if (phases++ == 0) {
            Barrier::expect(bytes);
        } else {
            arrive();
        }
    }
};

template <class... Ranks>
__device__ void load_box(void* to, CUtensorMap const& from, int row, int column,
                         LoadedOnce& barrier, Ranks... ranks)
{
    if (barrier.phases == 1) {
        dense::gpu::load_box(to, from, row, column, static_cast<Barrier&>(barrier), ranks...);
    }
}
//! [bf16_without_loads]

//! [bf16_without_barriers]
/// The same, and nobody waits after its first phase, or for a stage that is empty.
struct FullOnce : LoadedOnce
{
    __device__ void expect(int bytes)
    {
        if (phases++ == 0) {
            Barrier::expect(bytes);
        }
    }
    __device__ void wait(int) { Barrier::wait(0); }
};
struct AlwaysEmpty
{
    __device__ void init(int) {}
    __device__ void arrive_at(int) {}
    __device__ void wait(int) {}
};
//! [bf16_without_barriers]

// --- launches ------------------------------------------------------------------------------------

constexpr int height_of_patch = 8;

CUtensorMap boxes_of_c(Matrix<bf16> const& c)
{
    return boxes_of(Matrix<bf16 const>{c}, rows_of_warpgroup, row_elements);
}

/// Starts a kernel with all the shared memory that a `Layout` takes, by blocks in clusters.
template <class Layout, class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), std::int64_t blocks, int threads, int in_cluster,
           cuda::Stream const& stream, Arguments const&... arguments)
{
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(sizeof(Layout))));
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = sizeof(Layout);
    config.stream = stream.get();
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(in_cluster), 1, 1};
    config.attrs = &cluster;
    config.numAttrs = 1;
    cuda::check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

void launch_wgmma(Matrix<bf16 const> a, Matrix<bf16 const> b, Matrix<bf16> c,
                  cuda::Stream const& stream)
{
    auto const tiles = ceil_div(c.rows, rows_of_block) * ceil_div(c.columns, columns_of_block);
    start<Tiles<columns_of_block>[stages_of_copies]>(bf16_wgmma, tiles, multiplying_threads, 1,
                                                     stream, view_of(a), view_of(b), view_of(c));
}

template <int columns>
void launch_tma(Matrix<bf16 const> a, Matrix<bf16 const> b, Matrix<bf16> c,
                cuda::Stream const& stream)
{
    auto const tiles = ceil_div(c.rows, rows_of_block) * ceil_div(c.columns, columns);
    start<Pipeline<columns>>(bf16_tma<columns>, tiles, all_threads, 1, stream,
                             boxes_of(a, rows_of_block, depth_of_block),
                             boxes_of(b, depth_of_block, row_elements), view_of(c),
                             static_cast<int>(a.columns));
}

/// Pairs of tiles of 128 x 256, one above the other.
std::int64_t pairs_of_tiles(Matrix<bf16> const& c)
{
    return ceil_div(c.rows, blocks_of_cluster * rows_of_block) * ceil_div(c.columns, wide_columns);
}

/// Blocks of a persistent grid: those that there is room for, in whole clusters.
std::int64_t resident_blocks(Matrix<bf16> const& c)
{
    auto const room = std::int64_t{cuda::multiprocessors()} / blocks_of_cluster;
    return std::min(pairs_of_tiles(c), room) * blocks_of_cluster;
}

void launch_cluster(Matrix<bf16 const> a, Matrix<bf16 const> b, Matrix<bf16> c,
                    cuda::Stream const& stream)
{
    start<Pipeline<wide_columns>>(
        bf16_cluster, pairs_of_tiles(c) * blocks_of_cluster, all_threads, blocks_of_cluster, stream,
        boxes_of(a, rows_of_block, depth_of_block), boxes_of(b, depth_of_block, row_elements),
        view_of(c), static_cast<int>(a.columns));
}

template <int height>
void launch_persistent(Matrix<bf16 const> a, Matrix<bf16 const> b, Matrix<bf16> c,
                       cuda::Stream const& stream)
{
    start<Pipeline<wide_columns>>(
        bf16_persistent, resident_blocks(c), all_threads, blocks_of_cluster, stream,
        boxes_of(a, rows_of_block, depth_of_block), boxes_of(b, depth_of_block, row_elements),
        view_of(c), static_cast<int>(a.columns), height);
}

template <class Full, class Empty>
void launch_hidden_stores(Matrix<bf16 const> a, Matrix<bf16 const> b, Matrix<bf16> c,
                          cuda::Stream const& stream)
{
    start<StoringPipeline<Full, Empty>>(
        bf16_hidden_stores<Full, Empty>, resident_blocks(c), all_threads, blocks_of_cluster, stream,
        boxes_of(a, rows_of_block, depth_of_block), boxes_of(b, depth_of_block, row_elements),
        boxes_of_c(c), static_cast<int>(c.rows), static_cast<int>(c.columns),
        static_cast<int>(a.columns), height_of_patch);
}

bool is_hopper()
{
    int device = 0;
    int major = 0;
    int minor = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return major == 9 && minor == 0;
}

std::string_view refuses_hopper(Matrix<bf16 const> const& a, Matrix<bf16 const> const& b,
                                Matrix<bf16> const& c)
{
    return is_hopper() ? refuses_rows(a, b, c)
                       : "it is made for GPUs of compute capability 9.0 alone";
}

std::string_view refuses_parts(Matrix<bf16 const> const& a, Matrix<bf16 const> const& b,
                               Matrix<bf16> const& c)
{
    bool const are_whole = a.rows % (blocks_of_cluster * rows_of_block) == 0 &&
                           b.columns % wide_columns == 0 && a.columns % depth_of_block == 0;
    return are_whole ? refuses_hopper(a, b, c) : "without loads it takes whole tiles alone";
}

} // namespace

std::vector<Step<bf16>> hopper_steps()
{
    return {{"bf16_wgmma", launch_wgmma, refuses_hopper},
            {"bf16_tma", launch_tma<columns_of_block>, refuses_hopper},
            {"bf16_tma_wide", launch_tma<wide_columns>, refuses_hopper},
            {"bf16_cluster", launch_cluster, refuses_hopper},
            {"bf16_persistent", launch_persistent<height_of_patch>, refuses_hopper},
            {"bf16_hidden_stores", launch_hidden_stores<Barrier, Barrier>, refuses_hopper}};
}

std::vector<Step<bf16>> bf16_gemm_removals()
{
    return {{"bf16_fences", launch_hidden_stores<FencedBarrier, FencedBarrier>, refuses_hopper},
            {"bf16_unordered", launch_persistent<1 << 16>, refuses_hopper}};
}

std::vector<Step<bf16>> bf16_gemm_of_one_tile()
{
    return {{"bf16_without_loads", launch_hidden_stores<LoadedOnce, Barrier>, refuses_parts},
            {"bf16_without_barriers", launch_hidden_stores<FullOnce, AlwaysEmpty>, refuses_parts}};
}

} // namespace dense::gpu
