#include "spmv/cuda/row_tiles.hpp"

#include "spmv/cuda/device.cuh"

#include "cuda/error.hpp"

#include <cuda_pipeline_primitives.h>

#include <algorithm>

namespace spmv::gpu {

namespace {

constexpr int tile_threads = 256;
constexpr int tile_packs = 2; ///< of each thread

/// Neighbouring entries whose values a thread loads at once.
template <class T>
constexpr int tile_pack = 16 / sizeof(T);

/// Entries of a tile at most.
template <class T>
constexpr int tile_entries = tile_threads* tile_packs* tile_pack<T>;

/// Entries of a piece of a long row.
template <class T>
constexpr int piece_entries = 4 * tile_entries<T>;

/// Rows of a tile, and one more, whose beginnings are loaded together with its entries.
template <class T>
constexpr int tile_row_begins = tile_entries<T> / 2 + 1;

/// A row gets twice the lanes if it has more products for each lane.
constexpr int products_per_lane = 16;

/// What the kernel sees of the long rows.
template <class T>
struct LongRowsView
{
    LongRow const* rows;
    int pieces;
    T* sums;
    unsigned* arrived;
};

/// Rows without entries take time as well: as many as this count like an entry.
constexpr int rows_per_entry = 16;

/// Length of the longest row that has at most `most` entries; `longest` is 0 before.
template <class T>
__global__ void find_longest_row(CsrView<T> a, int most, std::int32_t* longest)
{
    std::int64_t const row = global_thread();
    int const length = row < a.rows ? a.row_ptr[row + 1] - a.row_ptr[row] : 0;
    int const longest_of_warp = largest_of_warp(length <= most ? length : 0);
    if (threadIdx.x % warp == 0 && longest_of_warp > *longest) {
        atomicMax(longest, longest_of_warp);
    }
}

/// Cuts the rows into tiles of about `window` entries. If the last row of a tile is too much for
/// it, it is taken out: it becomes `long_row`, which has `first` -1 where there is none.
template <class T>
__global__ void find_tiles(CsrView<T> a, int window, int tiles, RowTile* found, RowTile* long_row)
{
    auto const tile = static_cast<int>(global_thread());
    if (tile >= tiles) {
        return;
    }
    auto const first_row_of = [&](std::int64_t which) {
        return first_where(a.rows, [&](std::int32_t row) {
            return a.row_ptr[row] + row / rows_per_entry >= which * window;
        });
    };
    std::int32_t const first = first_row_of(tile);
    std::int32_t last = tile + 1 == tiles ? a.rows : first_row_of(tile + 1);
    std::int32_t const begin = a.row_ptr[first];
    std::int32_t end = a.row_ptr[last];
    RowTile taken_out{-1, -1, 0, 0};
    if (end - begin / tile_pack<T> * tile_pack < T >> tile_entries<T>) {
        --last;
        taken_out = {last, last + 1, a.row_ptr[last], end};
        end = taken_out.begin;
    }
    found[tile] = {first, last, begin, end};
    long_row[tile] = taken_out;
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
    for (int i = 0; i < tile_threads / warp; ++i) {
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
        for (int i = threadIdx.x; i < row.pieces; i += tile_threads) {
            sum += __ldcg(long_rows.sums + row.first_piece + i);
        }
        sum = sum_of_block(sum, shared);
        if (threadIdx.x == 0) {
            y[row.row] = sum;
        }
    }
}

/// What the calling thread sees of a piece.
template <class T>
__device__ T sum_of_piece(CsrView<T> const& a, RowTile piece, T const* __restrict__ x)
{
    constexpr int pack = tile_pack<T>;
    T sum = 0;
    for (int from = piece.begin / pack * pack; from < piece.end; from += tile_entries<T>) {
        Pack<int, pack> col[tile_packs];
        Pack<T, pack> value[tile_packs];
        int const first = from + static_cast<int>(threadIdx.x) * pack;
#pragma unroll
        for (int i = 0; i < tile_packs; ++i) {
            int const entry = first + i * tile_threads * pack;
            col[i] = load_once<pack>(a.col + (entry < piece.end ? entry : from));
            value[i] = load_once<pack>(a.values + (entry < piece.end ? entry : from));
        }
#pragma unroll
        for (int i = 0; i < tile_packs; ++i) {
            int const entry = first + i * tile_threads * pack;
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

template <class T>
__global__ __launch_bounds__(tile_threads) void row_tiles_kernel(CsrView<T> a, RowTile const* tiles,
                                                                 LongRowsView<T> long_rows,
                                                                 T const* __restrict__ x,
                                                                 T* __restrict__ y)
{
    constexpr int pack = tile_pack<T>;
    __shared__ alignas(16) T product[tile_entries<T>];
    __shared__ int row_begin[tile_row_begins<T>];
    RowTile const tile = tiles[blockIdx.x];
    if (static_cast<int>(blockIdx.x) < long_rows.pieces) {
        T const sum = sum_of_block(sum_of_piece(a, tile, x), product);
        finish_piece(long_rows, tile.first, sum, product, y);
        return;
    }
    int const rows = tile.last - tile.first;
    int const begin = tile.begin / pack * pack;
    int const entries = tile.end - begin;
    if (tile.begin == tile.end) { // perhaps there is no `x` to load from
        for (int row = threadIdx.x; row < rows; row += tile_threads) {
            y[tile.first + row] = 0;
        }
        return;
    }

    // All loads are under way before the first of them is waited for. Threads without entries load
    // the first ones again: a branch would keep loads from being issued together.
    Pack<int, pack> col[tile_packs];
    Pack<T, pack> value[tile_packs];
#pragma unroll
    for (int i = 0; i < tile_packs; ++i) {
        int const entry = (i * tile_threads + threadIdx.x) * pack;
        int const from = begin + (entry < entries ? entry : 0);
        col[i] = load_once<pack>(a.col + from);
        value[i] = load_once<pack>(a.values + from);
    }
    for (int i = threadIdx.x; i <= min(rows, tile_row_begins<T> - 1); i += tile_threads) {
        __pipeline_memcpy_async(row_begin + i, a.row_ptr + tile.first + i, sizeof(int));
    }
    __pipeline_commit();

#pragma unroll
    for (int i = 0; i < tile_packs; ++i) {
        Pack<T, pack> products;
#pragma unroll
        for (int j = 0; j < pack; ++j) {
            products.element[j] = value[i].element[j] * __ldg(x + col[i].element[j]);
        }
        int const entry = (i * tile_threads + threadIdx.x) * pack;
        *reinterpret_cast<Pack<T, pack>*>(product + entry) = products;
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
    auto const row_start = [&](int row) {
        return (row < tile_row_begins<T> ? row_begin[row] : a.row_ptr[tile.first + row]) - begin;
    };
    // The same number of rounds for all lanes of a warp, as they add up together.
    int const warp_row = threadIdx.x / warp * (warp >> lanes_log2);
    int const lane_row = (threadIdx.x % warp) >> lanes_log2;
    for (int first = warp_row; first < rows; first += tile_threads >> lanes_log2) {
        int const row = first + lane_row;
        int const p = row < rows ? row_start(row) : 0;
        int const end = row < rows ? row_start(row + 1) : 0;
        bool const is_long = end - p > 16 * lanes; // too much for its lanes: the warp adds it up
        T sum = 0;
        for (int k = p + lane; !is_long && k < end; k += lanes) {
            sum += product[k];
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
                sum += product[k];
            }
            sum = sum_of_lanes<warp>(sum);
            if (threadIdx.x % warp == 0) {
                y[tile.first + first + (source >> lanes_log2)] = sum;
            }
        }
    }
}
//! [row_tiles]

/// Entries between the first rows of tiles: a row that begins at the end of a window hangs over it,
/// and there is room for that unless the row is long.
template <class T>
int tile_window(CsrView<T> const& a, cudaStream_t stream)
{
    ::cuda::Buffer<std::int32_t> longest(1);
    ::cuda::check(cudaMemsetAsync(longest.data(), 0, longest.bytes(), stream));
    auto const blocks = static_cast<unsigned>(ceil_div(a.rows, 256));
    find_longest_row<<<blocks, 256, 0, stream>>>(a, tile_entries<T> / 4, longest.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    return tile_entries<T> - tile_pack<T> - longest.download().front();
}

} // namespace

template <class T>
RowTiles<T>::RowTiles(CsrView<T> const& a, cudaStream_t stream)
    : tiles_(0), long_rows_(0), sums_(0), arrived_(0)
{
    if (a.rows == 0) {
        return;
    }
    int const window = tile_window(a, stream);
    std::int64_t const entries = std::int64_t{a.nonzeros} + a.rows / rows_per_entry;
    auto const tiles = static_cast<int>(entries / window + 1);
    tiles_ = ::cuda::Buffer<RowTile>(static_cast<std::size_t>(tiles));
    ::cuda::Buffer<RowTile> long_rows(tiles_.size());
    auto const blocks = static_cast<unsigned>(ceil_div(tiles, 256));
    find_tiles<<<blocks, 256, 0, stream>>>(a, window, tiles, tiles_.data(), long_rows.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));

    auto rows = long_rows.download();
    std::erase_if(rows, [](RowTile const& row) { return row.first < 0; });
    if (!rows.empty()) {
        cut(rows);
    }
}

template <class T>
void RowTiles<T>::cut(std::vector<RowTile> const& rows)
{
    std::vector<RowTile> pieces; // in the place of rows: the index of the long row, twice
    std::vector<LongRow> long_rows;
    for (RowTile const& row : rows) {
        auto const which = static_cast<std::int32_t>(long_rows.size());
        auto const first = static_cast<std::int32_t>(pieces.size());
        for (std::int32_t p = row.begin; p < row.end;) {
            auto const end = std::min(p / tile_pack<T> * tile_pack<T> + piece_entries<T>, row.end);
            pieces.push_back({which, which, p, end});
            p = end;
        }
        long_rows.push_back({row.first, first, static_cast<std::int32_t>(pieces.size()) - first});
    }
    sums_ = ::cuda::Buffer<T>(pieces.size());
    auto const tiles = tiles_.download();
    pieces.insert(pieces.end(), tiles.begin(), tiles.end());
    tiles_ = ::cuda::Buffer<RowTile>{std::span<RowTile const>{pieces}};
    long_rows_ = ::cuda::Buffer<LongRow>{std::span<LongRow const>{long_rows}};
    arrived_ = ::cuda::Buffer<unsigned>(long_rows.size());
    ::cuda::check(cudaMemset(arrived_.data(), 0, arrived_.bytes()));
}

template <class T>
void RowTiles<T>::operator()(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream) const
{
    if (a.rows > 0) {
        LongRowsView<T> const long_rows{long_rows_.data(), static_cast<int>(sums_.size()),
                                        sums_.data(), arrived_.data()};
        row_tiles_kernel<T><<<static_cast<unsigned>(tiles_.size()), tile_threads, 0, stream>>>(
            a, tiles_.data(), long_rows, x, y);
        ::cuda::check_launch();
    }
}

template <class T>
std::size_t RowTiles<T>::bytes() const
{
    return tiles_.bytes() + long_rows_.bytes() + sums_.bytes() + arrived_.bytes();
}

template class RowTiles<float>;
template class RowTiles<double>;

} // namespace spmv::gpu
