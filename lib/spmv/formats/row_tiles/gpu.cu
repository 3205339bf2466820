#include "spmv/formats/row_tiles/gpu.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

namespace spmv::gpu {

namespace {

/// How a matrix is cut into tiles, and how a kernel works on them: a block of `threads_` threads
/// for each tile, each of which loads `packs_` packs, of `bytes` bytes of values at most, and has
/// `registers` registers at most; rows of `least_row` entries fill a tile; `gap` elements of shared
/// memory are left out after 64 products.
template <class T, int threads_, int packs_, int bytes, int registers, int least_row, int gap>
struct TileShape
{
    static constexpr int threads = threads_;
    static constexpr int packs = packs_;
    static constexpr int blocks = 65536 / registers / threads; ///< on a multiprocessor

    /// Neighbouring entries that a thread loads at once.
    static constexpr int pack = bytes > sizeof(T) ? bytes / sizeof(T) : 1;

    static constexpr int entries = threads * packs * pack; ///< of a tile, from a pack's boundary on
    static constexpr int rows = entries / least_row;       ///< of a tile

    /// Where the product of an entry lies in shared memory: lanes that add up rows of a power of
    /// two of entries would meet in a bank.
    __device__ static int slot(int entry) { return entry + entry / 64 * gap; }

    /// Elements of shared memory.
    static constexpr int slots = entries + entries / 64 * gap;
};

/// What was fastest on an H200 for short rows and for those of more than `short_row` entries. More
/// registers for a thread, or more entries, would leave fewer loads under way.
template <class T>
using ShortRowTiles = std::conditional_t<sizeof(T) == 4, TileShape<T, 256, 2, 16, 32, 2, 0>,
                                         TileShape<T, 256, 4, 16, 40, 2, 4>>;
template <class T>
using UsualTiles = std::conditional_t<sizeof(T) == 4, TileShape<T, 128, 2, 16, 32, 8, 0>,
                                      TileShape<T, 256, 4, 16, 40, 2, 4>>;
constexpr double short_row = 16;

/// Lanes gather neighbouring entries, which are often in one sector where rows are long, and little
/// shared memory leaves much of the first-level cache to `x`.
template <class T>
using LargeTiles = TileShape<T, 1024, 4, 4, 32, 2, 0>;

/// 512 entries in either precision.
template <class T>
using SmallTiles = TileShape<T, 128, sizeof(T) / 4, 16, 32, 2, 0>;

/// A row gets twice the lanes if it has more products for each lane.
constexpr int products_per_lane = 28;

/// Tiles that a thread finds one after the other, and the threads of a block.
constexpr int tiles_of_section = 64;
constexpr int section_threads = 64;

/// What the kernel sees of the long rows.
template <class T>
struct LongRowsView
{
    LongRow const* rows;
    int pieces;
    T* sums;
    unsigned* arrived;
};

/// Calls `found(tile)` for the tiles of the rows `first` .. `last`, one after the other, each with
/// as many rows as it has room for. A row that is too long for a tile is one by itself.
template <class Shape, class T, class Found>
__device__ void pack_rows(CsrView<T> const& a, std::int32_t first, std::int32_t last,
                          Found const& found)
{
    while (first < last) {
        std::int32_t const begin = a.row_ptr[first] / Shape::pack * Shape::pack;
        std::int32_t const fitting =
            first_where(min(last - first, Shape::rows), [&](std::int32_t rows) {
                return a.row_ptr[first + rows + 1] - begin > Shape::entries;
            });
        std::int32_t const next = first + max(fitting, 1);
        found(RowTile{first, next, a.row_ptr[first], a.row_ptr[next]});
        first = next;
    }
}

/// First row of a section: sections have about the same number of entries and rows.
template <class T>
__device__ std::int32_t first_row(CsrView<T> const& a, std::int64_t section, std::int64_t sections)
{
    std::int64_t const all = std::int64_t{a.nonzeros} + a.rows;
    return first_where(a.rows, [&](std::int32_t row) {
        return (std::int64_t{a.row_ptr[row]} + row) * sections >= section * all;
    });
}

/// Each thread packs the rows of a section into tiles and counts them.
template <class Shape, class T>
__global__ void count_tiles(CsrView<T> a, int sections, int* count)
{
    auto const section = static_cast<int>(global_thread());
    if (section < sections) {
        int tiles = 0;
        pack_rows<Shape>(a, first_row(a, section, sections), first_row(a, section + 1, sections),
                         [&](RowTile) { ++tiles; });
        count[section] = tiles;
    }
}

/// Writes the tiles of a section from `first[section]` on.
template <class Shape, class T>
__global__ void write_tiles(CsrView<T> a, int sections, int const* first, RowTile* tiles)
{
    auto const section = static_cast<int>(global_thread());
    if (section < sections) {
        RowTile* to = tiles + first[section];
        pack_rows<Shape>(a, first_row(a, section, sections), first_row(a, section + 1, sections),
                         [&](RowTile const& tile) { *to++ = tile; });
    }
}

//! [row_tiles]
/// Sum over the threads of a block, for all of them. `shared` has an element for each warp.
template <class T>
__device__ T sum_of_block(T sum, T* shared)
{
    sum = sum_of_lanes<warp>(sum);
    if (threadIdx.x % warp == 0) {
        shared[threadIdx.x / warp] = sum;
    }
    __syncthreads();
    sum = 0;
    for (int i = 0; i < blockDim.x / warp; ++i) {
        sum += shared[i];
    }
    __syncthreads();
    return sum;
}

/// Takes the sum of a piece; the block that is the last to bring one of a row adds up all of them.
template <class T>
__device__ void finish_piece(LongRowsView<T> const& long_rows, int which, T sum, T* shared,
                             T* __restrict__ y)
{
    __shared__ bool is_last;
    LongRow const row = long_rows.rows[which];
    if (threadIdx.x == 0) {
        long_rows.sums[blockIdx.x] = sum;
        __threadfence();
        // Goes back to 0 with the last piece, ready for the next multiply.
        is_last = atomicInc(long_rows.arrived + which, row.pieces - 1) == row.pieces - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        sum = 0;
        for (int i = threadIdx.x; i < row.pieces; i += blockDim.x) {
            sum += __ldcg(long_rows.sums + row.first_piece + i);
        }
        sum = sum_of_block(sum, shared);
        if (threadIdx.x == 0) {
            y[row.row] = sum;
        }
    }
}

/// What the calling thread sees of a piece.
template <class Shape, class T>
__device__ T sum_of_piece(CsrView<T> const& a, RowTile piece, T const* __restrict__ x)
{
    constexpr int pack = Shape::pack;
    T sum = 0;
    for (int from = piece.begin / pack * pack; from < piece.end; from += Shape::entries) {
        Pack<int, pack> col[Shape::packs];
        Pack<T, pack> value[Shape::packs];
        int const first = from + static_cast<int>(threadIdx.x) * pack;
#pragma unroll
        for (int i = 0; i < Shape::packs; ++i) {
            int const entry = first + i * Shape::threads * pack;
            col[i] = load_once<pack>(a.col + (entry < piece.end ? entry : from));
            value[i] = load_once<pack>(a.values + (entry < piece.end ? entry : from));
        }
#pragma unroll
        for (int i = 0; i < Shape::packs; ++i) {
            int const entry = first + i * Shape::threads * pack;
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                T const product = value[i].element[j] * __ldg(x + col[i].element[j]);
                bool const inside = entry + j >= piece.begin && entry + j < piece.end;
                sum += inside ? product : T{0};
            }
        }
    }
    return sum;
}

template <class Shape, class T>
__global__ __launch_bounds__(Shape::threads, Shape::blocks) void row_tiles_kernel(
    CsrView<T> a, RowTile const* tiles, LongRowsView<T> long_rows, T const* __restrict__ x,
    T* __restrict__ y)
{
    constexpr int pack = Shape::pack;
    __shared__ alignas(16) T product[Shape::slots];
    __shared__ int row_begin[Shape::rows + 1];
    RowTile const tile = tiles[blockIdx.x];
    if (static_cast<int>(blockIdx.x) < long_rows.pieces) {
        T const sum = sum_of_block(sum_of_piece<Shape>(a, tile, x), product);
        finish_piece(long_rows, tile.first, sum, product, y);
        return;
    }
    int const rows = tile.last - tile.first;
    int const begin = tile.begin / pack * pack;
    int const entries = tile.end - begin;
    if (tile.begin == tile.end) { // perhaps there is no `x` to load from
        for (int row = threadIdx.x; row < rows; row += Shape::threads) {
            y[tile.first + row] = 0;
        }
        return;
    }

    // All loads are under way before the first of them is waited for. Threads without entries load
    // the first ones again: a branch would keep loads from being issued together.
    Pack<int, pack> col[Shape::packs];
    Pack<T, pack> value[Shape::packs];
#pragma unroll
    for (int i = 0; i < Shape::packs; ++i) {
        int const entry = (i * Shape::threads + threadIdx.x) * pack;
        int const from = begin + (entry < entries ? entry : 0);
        col[i] = load_once<pack>(a.col + from);
        value[i] = load_once<pack>(a.values + from);
    }
    for (int i = threadIdx.x; i <= rows; i += Shape::threads) {
        __pipeline_memcpy_async(row_begin + i, a.row_ptr + tile.first + i, sizeof(int));
    }
    __pipeline_commit();

#pragma unroll
    for (int i = 0; i < Shape::packs; ++i) {
        Pack<T, pack> products;
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            products.element[j] = value[i].element[j] * __ldg(x + col[i].element[j]);
        }
        int const entry = (i * Shape::threads + threadIdx.x) * pack;
        *reinterpret_cast<Pack<T, pack>*>(product + Shape::slot(entry)) = products;
    }
    __pipeline_wait_prior(0);
    __syncthreads();

    // As many lanes for a row that each adds up a few products.
    int const mean = entries / rows;
    int const lanes_log2 = mean <= products_per_lane        ? 0
                           : mean <= 2 * products_per_lane  ? 1
                           : mean <= 4 * products_per_lane  ? 2
                           : mean <= 8 * products_per_lane  ? 3
                           : mean <= 16 * products_per_lane ? 4
                                                            : 5;
    int const lanes = 1 << lanes_log2;
    int const lane = threadIdx.x & (lanes - 1);
    // The same number of rounds for all lanes of a warp, as they add up together.
    int const warp_row = threadIdx.x / warp * (warp >> lanes_log2);
    int const lane_row = (threadIdx.x % warp) >> lanes_log2;
    for (int first = warp_row; first < rows; first += Shape::threads >> lanes_log2) {
        int const row = first + lane_row;
        int const p = row < rows ? row_begin[row] - begin : 0;
        int const end = row < rows ? row_begin[row + 1] - begin : 0;
        bool const is_long = end - p > 64 * lanes; // too much for its lanes: the warp adds it up
        T sum = 0;
        for (int k = p + lane; !is_long && k < end; k += lanes) {
            sum += product[Shape::slot(k)];
        }
        sum = sum_of_lanes(sum, lanes);
        if (lane == 0 && row < rows && !is_long) {
            y[tile.first + row] = sum;
        }
        for (unsigned left = __ballot_sync(all_lanes, is_long && lane == 0); left != 0;
             left &= left - 1) {
            int const source = __ffs(static_cast<int>(left)) - 1;
            int const last = __shfl_sync(all_lanes, end, source);
            sum = 0;
            for (int k = __shfl_sync(all_lanes, p, source) + threadIdx.x % warp; k < last;
                 k += warp) {
                sum += product[Shape::slot(k)];
            }
            sum = sum_of_lanes<warp>(sum);
            if (threadIdx.x % warp == 0) {
                y[tile.first + first + (source >> lanes_log2)] = sum;
            }
        }
    }
}
//! [row_tiles]

/// All tiles of `a`, in order.
template <class Shape, class T>
std::vector<RowTile> find_tiles(CsrView<T> const& a, cudaStream_t stream)
{
    std::int64_t const work = std::int64_t{a.nonzeros} + a.rows;
    auto const sections = static_cast<int>(work / (tiles_of_section * Shape::entries) + 1);
    auto const blocks = static_cast<unsigned>(ceil_div(sections, section_threads));
    ::cuda::Buffer<int> count(static_cast<std::size_t>(sections));
    count_tiles<Shape><<<blocks, section_threads, 0, stream>>>(a, sections, count.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    auto first = count.download();
    int const tiles = std::reduce(first.begin(), first.end());
    std::exclusive_scan(first.begin(), first.end(), first.begin(), 0);
    count.upload(first);
    ::cuda::Buffer<RowTile> found(static_cast<std::size_t>(tiles));
    write_tiles<Shape>
        <<<blocks, section_threads, 0, stream>>>(a, sections, count.data(), found.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    return found.download();
}

/// Calls `action` with the shape of tiles of a size.
template <class T, class Action>
void with_shape(CsrView<T> const& a, TileSize size, Action const& action)
{
    size == TileSize::large    ? action(LargeTiles<T>{})
    : size == TileSize::small  ? action(SmallTiles<T>{})
    : mean_row(a) <= short_row ? action(ShortRowTiles<T>{})
                               : action(UsualTiles<T>{});
}

/// Entries of a piece of long rows that have so many entries together: a few pieces for each
/// multiprocessor, as blocks that work through many entries need less time for each.
template <class Shape>
std::int32_t piece_entries(std::int64_t entries_of_long_rows)
{
    std::int64_t const pieces = 2 * ::cuda::multiprocessors();
    auto const tiles = entries_of_long_rows / (pieces * Shape::entries);
    return static_cast<std::int32_t>(std::clamp(tiles, std::int64_t{1}, std::int64_t{16})) *
           Shape::entries;
}

} // namespace

template <class T>
RowTiles<T>::RowTiles(CsrView<T> const& a, TileSize size, cudaStream_t stream)
    : size_{size}, tiles_(0), long_rows_(0), sums_(0), arrived_(0)
{
    with_shape(a, size, [&](auto shape) { keep(shape, find_tiles<decltype(shape)>(a, stream)); });
}

/// Cuts the tiles that are one row, too long for a tile. Their pieces come first: they take
/// longest.
template <class T>
template <class Shape>
void RowTiles<T>::keep(Shape /*shape*/, std::vector<RowTile> tiles)
{
    auto const is_short = [](RowTile const& tile) {
        return tile.end - tile.begin / Shape::pack * Shape::pack <= Shape::entries;
    };
    auto const long_tiles = std::stable_partition(tiles.begin(), tiles.end(), is_short);
    std::int64_t entries = 0;
    for (auto row = long_tiles; row != tiles.end(); ++row) {
        entries += row->end - row->begin;
    }
    std::int32_t const piece = piece_entries<Shape>(entries);
    std::vector<RowTile> pieces; // in the place of rows: the index of the long row, twice
    std::vector<LongRow> long_rows;
    for (auto row = long_tiles; row != tiles.end(); ++row) {
        auto const which = static_cast<std::int32_t>(long_rows.size());
        auto const first = static_cast<std::int32_t>(pieces.size());
        for (std::int32_t p = row->begin; p < row->end;) {
            auto const end = std::min(p / Shape::pack * Shape::pack + piece, row->end);
            pieces.push_back({which, which, p, end});
            p = end;
        }
        long_rows.push_back({row->first, first, static_cast<std::int32_t>(pieces.size()) - first});
    }
    sums_ = ::cuda::Buffer<T>(pieces.size());
    pieces.insert(pieces.end(), tiles.begin(), long_tiles);
    tiles_ = ::cuda::Buffer<RowTile>{std::span<RowTile const>{pieces}};
    long_rows_ = ::cuda::Buffer<LongRow>{std::span<LongRow const>{long_rows}};
    arrived_ = ::cuda::Buffer<unsigned>(long_rows.size());
    ::cuda::check(cudaMemset(arrived_.data(), 0, arrived_.bytes()));
}

template <class T>
void RowTiles<T>::operator()(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream) const
{
    if (tiles_.size() == 0) {
        return;
    }
    LongRowsView<T> const long_rows{long_rows_.data(), static_cast<int>(sums_.size()), sums_.data(),
                                    arrived_.data()};
    with_shape(a, size_, [&](auto shape) {
        using Shape = decltype(shape);
        auto const blocks = static_cast<unsigned>(tiles_.size());
        row_tiles_kernel<Shape>
            <<<blocks, Shape::threads, 0, stream>>>(a, tiles_.data(), long_rows, x, y);
        ::cuda::check_launch();
    });
}

template <class T>
std::size_t RowTiles<T>::bytes() const
{
    return tiles_.bytes() + long_rows_.bytes() + sums_.bytes() + arrived_.bytes();
}

template class RowTiles<float>;
template class RowTiles<double>;

} // namespace spmv::gpu
