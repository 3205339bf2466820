#pragma once

#include "spmv/formats/gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmv::gpu {

/// Rows that one block multiplies together: `first <= row < last`, whose entries are
/// `begin <= p < end`. As large as the load that fetches it.
struct alignas(16) RowTile
{
    std::int32_t first;
    std::int32_t last;
    std::int32_t begin;
    std::int32_t end;
};

/// A row that is too long for a tile, and its pieces.
struct alignas(16) LongRow
{
    std::int32_t row;
    std::int32_t first_piece;
    std::int32_t pieces;
};

/// Tiles of 1024 or 2048 entries; of 4096 whose lanes load one entry at a time, for columns in no
/// order and rows of very different lengths; or of 512, which are faster on most matrices with long
/// rows among short ones that stay in the cache.
enum class TileSize
{
    usual,
    large,
    small,
};

/// Plain CSR at the speed of memory: blocks stream tiles of whole rows through shared memory, with
/// loads of 16 bytes for each lane (after CSR-Stream, Greathouse and Daga 2014). Rows longer than a
/// tile are cut into pieces, which other blocks sum up. The tiles are found once for a matrix.
template <class T>
class RowTiles
{
public:
    /// Finds the tiles of `a`.
    RowTiles(CsrView<T> const& a, TileSize size, cudaStream_t stream);

    /// Multiplies the matrix that the tiles were made for. One multiply at a time.
    void operator()(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream) const;

    /// Bytes of the tiles, beside the matrix.
    std::size_t bytes() const;

    /// Rows that were cut into pieces.
    std::size_t long_rows() const { return long_rows_.size(); }

private:
    template <class Shape>
    void keep(Shape shape, std::vector<RowTile> tiles);

    TileSize size_;
    ::cuda::Buffer<RowTile> tiles_; ///< pieces of long rows, then tiles
    ::cuda::Buffer<LongRow> long_rows_;
    mutable ::cuda::Buffer<T> sums_;           ///< of pieces: scratch of the running multiply
    mutable ::cuda::Buffer<unsigned> arrived_; ///< pieces of each long row; 0 between multiplies
};

/// What plans list of it.
template <TileSize size>
struct RowTilesFormat : OnCsr<RowTiles, size>
{
    static constexpr FormatName name{size == TileSize::usual   ? "row_tiles"
                                     : size == TileSize::large ? "large_tiles"
                                                               : "small_tiles",
                                     "row_tiles", "csr"};
};

using row_tiles_formats =
    std::tuple<RowTilesFormat<TileSize::usual>, RowTilesFormat<TileSize::large>,
               RowTilesFormat<TileSize::small>>;

} // namespace spmv::gpu
