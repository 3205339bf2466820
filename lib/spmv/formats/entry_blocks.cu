#include "spmv/formats/entry_blocks.hpp"

#include "spmv/device/threads.cuh"

#include "cuda/error.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace spmv::gpu {

namespace {

constexpr int key_lanes = 8; ///< that make the keys of a row

/// Tiles that are balanced by entries and yet have at most `most_rows` rows: a row counts like some
/// entries.
struct Tiling
{
    std::int32_t tiles;
    std::int64_t row_weight;
};

template <class T>
Tiling tiling(CsrView<T> const& a, EntryBlocksShape const& shape)
{
    // A quarter more room than rows, so that a row need not count like many entries.
    std::int64_t const most = shape.most_rows - 1;
    std::int64_t const wanted = std::int64_t{a.rows} + a.rows / 4 + 1;
    std::int64_t const tiles =
        shape.tiles * std::max(ceil_div(wanted, shape.tiles * most), std::int64_t{1});
    return {static_cast<std::int32_t>(tiles), ceil_div(a.nonzeros, tiles * most - a.rows) + 1};
}

template <class T>
__global__ void find_first_rows(CsrView<T> a, Tiling tiling, std::int32_t* first_row)
{
    auto const tile = static_cast<std::int32_t>(global_thread());
    if (tile <= tiling.tiles) {
        std::int64_t const all = a.nonzeros + tiling.row_weight * a.rows;
        first_row[tile] = first_where(a.rows, [&](std::int32_t row) {
            return (a.row_ptr[row] + tiling.row_weight * row) * tiling.tiles >= tile * all;
        });
    }
}

/// The block of each entry, its column and its row within that, from the upper half to the lower.
template <class T>
__global__ void make_keys(CsrView<T> a, std::int32_t tiles, std::int32_t strips,
                          EntryBlocksShape shape, std::int32_t const* first_row,
                          std::uint64_t* keys)
{
    std::int64_t const row = global_thread() / key_lanes;
    if (row >= a.rows) {
        return;
    }
    auto const tile =
        first_where(tiles - 1, [&](std::int32_t t) { return first_row[t + 1] > row; });
    auto const row_in_tile = static_cast<std::uint64_t>(row - first_row[tile]);
    for (std::int32_t p = a.row_ptr[row] + static_cast<int>(threadIdx.x) % key_lanes;
         p < a.row_ptr[row + 1]; p += key_lanes) {
        std::int32_t const strip = a.col[p] / shape.strip_columns;
        auto const col_in_strip = static_cast<std::uint64_t>(a.col[p] % shape.strip_columns);
        auto const block =
            static_cast<std::uint64_t>(shape.by_strip ? std::int64_t{strip} * tiles + tile
                                                      : std::int64_t{tile} * strips + strip);
        keys[p] = block << 32 | col_in_strip << 16 | row_in_tile;
    }
}

/// First of the sorted entries of each block.
__global__ void find_begins(std::int32_t entries, std::uint64_t const* keys, std::int32_t blocks,
                            std::int32_t* begin)
{
    std::int64_t const block = global_thread();
    if (block <= blocks) {
        begin[block] = first_where(entries, [&](std::int32_t entry) {
            return static_cast<std::int64_t>(keys[entry] >> 32) >= block;
        });
    }
}

/// Moves sorted entries to their places, a warp for each block.
template <class T>
__global__ void fill_blocks(std::int32_t blocks, std::int32_t tiles, std::int32_t strips,
                            EntryBlocksShape shape, std::int32_t const* from,
                            std::uint64_t const* keys, T const* from_values,
                            std::int32_t const* first_row, std::int32_t const* begin,
                            std::uint16_t* row, std::uint16_t* col, T* values)
{
    std::int64_t const block = global_thread() / warp;
    if (block >= blocks) {
        return;
    }
    auto const tile = shape.by_strip ? block % tiles : block / strips;
    auto const no_row = static_cast<std::uint16_t>(first_row[tile + 1] - first_row[tile]);
    int const lanes = shape.chunk / 4;
    int const present = from[block + 1] - from[block];
    for (int i = threadIdx.x % warp; i < begin[block + 1] - begin[block]; i += warp) {
        int const in_chunk = i % shape.chunk;
        int const to = begin[block] + i - in_chunk + in_chunk % lanes * 4 + in_chunk / lanes;
        std::uint64_t const key = i < present ? keys[from[block] + i] : no_row;
        row[to] = static_cast<std::uint16_t>(key);
        col[to] = i < present ? static_cast<std::uint16_t>(key >> 16) : std::uint16_t{0};
        values[to] = i < present ? from_values[from[block] + i] : T{0};
    }
}

/// Sorts by block and column.
template <class T>
void sort(std::int64_t count, std::int64_t blocks, std::uint64_t const* keys,
          std::uint64_t* sorted_keys, T const* values, T* sorted_values, cudaStream_t stream)
{
    int const last_bit = 32 + std::bit_width(static_cast<std::uint64_t>(blocks));
    auto const call = [&](void* scratch, std::size_t& bytes) {
        ::cuda::check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values,
                                                      sorted_values, count, 16, last_bit, stream));
    };
    std::size_t bytes = 0;
    call(nullptr, bytes);
    ::cuda::Buffer<unsigned char> scratch(bytes);
    call(scratch.data(), bytes);
    ::cuda::check(cudaStreamSynchronize(stream));
}

unsigned blocks_for(std::int64_t threads)
{
    return static_cast<unsigned>(ceil_div(threads, 256));
}

/// Where blocks begin if each is filled up to a multiple of `chunk` entries.
std::vector<std::int32_t> filled_up(std::vector<std::int32_t> const& begin, std::int32_t chunk)
{
    std::vector<std::int32_t> filled(begin.size(), 0);
    std::int64_t end = 0;
    for (std::size_t block = 0; block + 1 < begin.size(); ++block) {
        end += ceil_div(begin[block + 1] - begin[block], chunk) * chunk;
        if (end > most_nonzeros) {
            throw std::length_error{"blocks of entries: filled up, they are too many"};
        }
        filled[block + 1] = static_cast<std::int32_t>(end);
    }
    return filled;
}

} // namespace

template <class T>
EntryBlocks<T>::EntryBlocks(CsrView<T> const& a, EntryBlocksShape const& shape, cudaStream_t stream)
    : begin(0), first_row(0), row(0), col(0), values(0)
{
    auto const tiled = tiling(a, shape);
    tiles = tiled.tiles;
    strips = static_cast<std::int32_t>(
        std::max(ceil_div(a.columns, shape.strip_columns), std::int64_t{1}));
    std::int64_t const blocks = std::int64_t{tiles} * strips;
    if (blocks > most_nonzeros) {
        throw std::length_error{"blocks of entries: there would be too many blocks"};
    }
    auto const block_count = static_cast<std::int32_t>(blocks);
    first_row = ::cuda::Buffer<std::int32_t>(static_cast<std::size_t>(tiles) + 1);
    find_first_rows<<<blocks_for(tiles + 1), 256, 0, stream>>>(a, tiled, first_row.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    auto const rows_before = first_row.download();
    for (std::size_t tile = 0; tile + 1 < rows_before.size(); ++tile) {
        tallest = std::max(tallest, rows_before[tile + 1] - rows_before[tile]);
    }
    if (a.nonzeros == 0) {
        begin_host.assign(static_cast<std::size_t>(blocks) + 1, 0);
        begin = ::cuda::Buffer<std::int32_t>{std::span<std::int32_t const>{begin_host}};
        return;
    }

    auto const count = static_cast<std::size_t>(a.nonzeros);
    ::cuda::Buffer<std::uint64_t> sorted_keys(count);
    ::cuda::Buffer<T> sorted_values(count);
    {
        ::cuda::Buffer<std::uint64_t> keys(count);
        make_keys<<<blocks_for(std::int64_t{a.rows} * key_lanes), 256, 0, stream>>>(
            a, tiles, strips, shape, first_row.data(), keys.data());
        ::cuda::check_launch();
        sort(a.nonzeros, blocks, keys.data(), sorted_keys.data(), a.values, sorted_values.data(),
             stream);
    }
    ::cuda::Buffer<std::int32_t> from(static_cast<std::size_t>(blocks) + 1);
    find_begins<<<blocks_for(blocks + 1), 256, 0, stream>>>(a.nonzeros, sorted_keys.data(),
                                                            block_count, from.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
    begin_host = filled_up(from.download(), shape.chunk);
    begin = ::cuda::Buffer<std::int32_t>{std::span<std::int32_t const>{begin_host}};
    row = ::cuda::Buffer<std::uint16_t>(static_cast<std::size_t>(begin_host.back()));
    col = ::cuda::Buffer<std::uint16_t>(row.size());
    values = ::cuda::Buffer<T>(row.size());
    fill_blocks<<<blocks_for(blocks * warp), 256, 0, stream>>>(
        block_count, tiles, strips, shape, from.data(), sorted_keys.data(), sorted_values.data(),
        first_row.data(), begin.data(), row.data(), col.data(), values.data());
    ::cuda::check_launch();
    ::cuda::check(cudaStreamSynchronize(stream));
}

template struct EntryBlocks<float>;
template struct EntryBlocks<double>;

} // namespace spmv::gpu
