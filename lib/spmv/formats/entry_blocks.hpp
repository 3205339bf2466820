#pragma once

#include "spmv/device/csr.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmv::gpu {

/// How a matrix is cut into blocks.
struct EntryBlocksShape
{
    std::int32_t tiles;         ///< of rows; more, in multiples of this, if `most_rows` asks for it
    std::int32_t most_rows;     ///< of a tile, at most 65535
    std::int32_t strip_columns; ///< columns of a strip, at most 65536
    bool by_strip;              ///< whether blocks of a strip follow each other, or of a tile
    std::int32_t chunk;         ///< entries that blocks are filled up to multiples of: 4 or 128
};

/// A matrix as coordinates in blocks, tiles of rows by strips of columns: 16 bits tell the row and
/// 16 the column within a block, whose entries are sorted by column. Tiles have about equally many
/// entries. Entries that fill a block up have the value 0, column 0, and the row behind the last of
/// the tile.
///
/// Entry `e` of a chunk is stored at `e % lanes * 4 + e / lanes` with `lanes` a quarter of the
/// chunk: lanes that load packs of four then gather neighbouring elements of `x`.
template <class T>
struct EntryBlocks
{
    std::int32_t tiles = 0;
    std::int32_t strips = 0;
    std::int32_t tallest = 0;               ///< rows of the tallest tile
    std::vector<std::int32_t> begin_host;   ///< first entry of each block, and the end
    ::cuda::Buffer<std::int32_t> begin;     ///< the same on the device
    ::cuda::Buffer<std::int32_t> first_row; ///< of each tile, and the number of rows
    ::cuda::Buffer<std::uint16_t> row;
    ::cuda::Buffer<std::uint16_t> col;
    ::cuda::Buffer<T> values;

    /// Converts `a`. Throws `std::length_error` if it would have more than `most_nonzeros` entries.
    EntryBlocks(CsrView<T> const& a, EntryBlocksShape const& shape, cudaStream_t stream);

    /// Elements of shared memory for the sums of any tile, and more where tiles have few rows.
    std::size_t room_for_sums(std::size_t least) const
    {
        return std::max(static_cast<std::size_t>(tallest) + 1, least);
    }

    /// Bytes of the arrays on the device.
    std::size_t bytes() const
    {
        return begin.bytes() + first_row.bytes() + row.bytes() + col.bytes() + values.bytes();
    }
};

} // namespace spmv::gpu
