#pragma once

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace sparse {

/// Row and column of an entry within its tile in one word, the row in the upper half: one load
/// fetches both. `Index` is `std::uint8_t`, `std::uint16_t` or `std::uint32_t`.
template <class Index>
using Place =
    std::conditional_t<sizeof(Index) == 1, std::uint16_t,
                       std::conditional_t<sizeof(Index) == 2, std::uint32_t, std::uint64_t>>;

/// Rows or columns that an index of a tile can tell apart: 2^8, 2^16, or all that a matrix has.
template <class Index>
constexpr std::int32_t tile_limit = sizeof(Index) == 4
                                        ? std::numeric_limits<std::int32_t>::max()
                                        : static_cast<std::int32_t>(1LL << (8 * sizeof(Index)));

/// How a matrix is cut into tiles.
struct TileShape
{
    std::int32_t rows;    ///< of a strip at most; the part of `y` that stays in a cache
    std::int32_t columns; ///< of a tile
    int parts = 1;        ///< that threads will multiply: strips are cut so that they balance
};

/// The tallest strip whose part of `y` fills at most three eighths of a second-level cache of
/// `cache_bytes`, past which the entries stream, and the widest tile that `Index` can address:
/// every strip reads all of `x`, so few strips are best. `T` is the element type, `parts` the
/// number of threads that will multiply.
template <class T, class Index>
TileShape tile_shape(std::size_t cache_bytes, int parts);

/// The entries of a tile are those from its own `begin` to that of the next tile.
struct Tile
{
    std::int32_t column; ///< first column
    std::int32_t begin;  ///< first entry
};

/// A matrix in blocked coordinates, not owned. Rows are cut into strips, strips into tiles; entries
/// are sorted by strip, tile, column and row. Tiles without entries are not stored.
template <class T, class Index>
struct BlockedCooView
{
    std::span<std::int32_t const> strip_row;  ///< strips + 1 first rows, last the number of rows
    std::span<std::int32_t const> strip_tile; ///< strips + 1 first tiles
    std::span<Tile const> tiles;              ///< one more than there are, to end the last
    std::span<Place<Index> const> places;     ///< rows and columns within the tiles
    std::span<T const> values;
};

/// A matrix in blocked coordinates that owns its arrays. Units of work are strips of rows.
template <class T, class Index>
struct BlockedCoo
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    Array<std::int32_t> strip_row;  ///< as in the view
    Array<std::int32_t> strip_tile; ///< as in the view
    Array<Tile> tiles;              ///< as in the view
    AlignedArray<Place<Index>> places;
    AlignedArray<T> values;

    std::size_t nonzeros() const { return values.size(); }

    /// Bytes of the five arrays.
    std::size_t bytes() const
    {
        return (strip_row.size() + strip_tile.size()) * sizeof(std::int32_t) +
               tiles.size() * sizeof(Tile) + nonzeros() * (sizeof(Place<Index>) + sizeof(T));
    }

    /// Number of strips.
    std::int32_t units() const { return static_cast<std::int32_t>(strip_row.size()) - 1; }

    /// Nonzeros of all strips before `unit`, 0 <= `unit` <= `units()`.
    std::int32_t work_before(std::int32_t unit) const { return tiles[strip_tile[unit]].begin; }

    BlockedCooView<T, Index> view() const { return {strip_row, strip_tile, tiles, places, values}; }
};

/// Cuts `a` into tiles. The result depends on matrix and shape only, not on the number of threads
/// that convert.
///
/// Throws `std::invalid_argument` if a number in `shape` is less than 1, and `std::length_error` if
/// `Index` cannot address that many rows or columns.
template <class T, class Index>
BlockedCoo<T, Index> to_blocked_coo(CsrView<T> const& a, TileShape const& shape);

/// Bytes that square tiles of `side` rows and columns would take if each tile that has a nonzero
/// were stored in CSR, with indices and row offsets as wide as in a tile of that side: 1 byte up to
/// 256, 2 up to 65536, else 4. For comparison with `BlockedCoo::bytes`.
std::size_t bytes_of_tiles_in_csr(PatternView<> const& a, std::int32_t side,
                                  std::size_t value_bytes);

} // namespace sparse
