#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// Rows and columns of the dense blocks of a matrix, each 1 to 8.
struct BlockShape
{
    std::int32_t rows = 1;
    std::int32_t columns = 1;

    std::int32_t size() const { return rows * columns; }
    bool operator==(BlockShape const&) const = default;
};

/// A matrix of dense blocks, not owned.
template <class T>
struct BcsrView
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    BlockShape shape;
    std::span<std::int32_t const> first_block; ///< block rows + 1 offsets into `column`
    std::span<std::int32_t const> column;      ///< first column of each block
    std::span<T const> values; ///< block by block, each column by column; 64 bytes more at the end
};

/// A matrix of dense blocks of one shape, the zeros among them stored (BCSR). Units are block rows.
///
/// Blocks begin at multiples of their shape; one that would reach beyond the last column is moved
/// left until it does not. What fills a block up is multiplied: where `x` is infinite or NaN, a row
/// of `y` becomes NaN also if one of its blocks covers that column without an entry there, and has
/// to be computed again without (see `fill.hpp`).
template <class T>
struct Bcsr
{
    /// Elements behind the last block, so that kernels can load whole vectors.
    static constexpr std::size_t padding = 64 / sizeof(T);

    std::int32_t rows = 0;
    std::int32_t columns = 0;
    BlockShape shape;
    std::size_t entries = 0; ///< nonzeros of the matrix the blocks were made from
    AlignedArray<std::int32_t> first_block = AlignedArray<std::int32_t>(1, 0);
    AlignedArray<std::int32_t> column;
    AlignedArray<T> values;

    std::size_t nonzeros() const { return entries; }

    /// Bytes of all arrays.
    std::size_t bytes() const;

    std::int32_t units() const { return static_cast<std::int32_t>(first_block.size()) - 1; }

    /// Stored elements of the block rows before `block_row`, and the work of their rows.
    std::int64_t work_before(std::int32_t block_row) const
    {
        return std::int64_t{first_block[block_row]} * shape.size() +
               row_work * block_row * shape.rows;
    }

    BcsrView<T> view() const { return {rows, columns, shape, first_block, column, values}; }
};

/// Fills blocks of `shape`. Throws `std::length_error` if a side of it is not 1 to 8 or the matrix
/// has nonzeros but fewer columns than a block. The result does not depend on the number of
/// threads.
template <class T>
Bcsr<T> to_bcsr(CsrView<T> const& a, BlockShape shape);

/// Elements that blocks of `shape` would store for each nonzero, 1 if all are full: estimated from
/// about 4096 block rows that are evenly spread, exact where there are no more. 1 without nonzeros.
double block_fill(PatternView<> const& a, BlockShape shape);

/// Shapes of blocks that matrices are made of.
inline constexpr BlockShape usual_block_shapes[] = {{2, 2}, {2, 3}, {3, 2}, {3, 3}, {2, 4},
                                                    {4, 2}, {4, 4}, {6, 6}, {8, 8}};

/// The one of `shapes` that would store the fewest bytes, values of `value_bytes` bytes and indices
/// together, as `block_fill` estimates them; 1 x 1 if none saves any.
BlockShape best_block_shape(PatternView<> const& a, std::size_t value_bytes,
                            std::span<BlockShape const> shapes = usual_block_shapes);

} // namespace sparse
