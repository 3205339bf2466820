#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// A piece of a run in one word: first column and length. Five bits hold the length, as longer
/// pieces would save little more; 27 bits are left for the column.
struct Piece
{
    static constexpr std::int32_t longest = 32;          ///< nonzeros of a piece
    static constexpr std::int32_t columns_end = 1 << 27; ///< columns that a piece can name
    std::uint32_t word;                                  ///< column * 32 + length - 1

    /// A piece of 1 <= `length` <= `longest` nonzeros from `column` on.
    static Piece pack(std::int32_t column, std::int32_t length)
    {
        return {static_cast<std::uint32_t>(column) << 5 | static_cast<std::uint32_t>(length - 1)};
    }
    std::int32_t start() const { return static_cast<std::int32_t>(word >> 5); }
    std::int32_t length() const { return static_cast<std::int32_t>(word % 32) + 1; }
    bool operator==(Piece const&) const = default;
};

/// A matrix of packed pieces of runs, not owned.
template <class T>
struct PackedCsrlView
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::span<std::int32_t const> first_piece; ///< rows + 1 offsets into `piece`
    std::span<Piece const> piece;              ///< row by row, from left to right
    std::span<T const> values;                 ///< row by row
    std::span<std::int32_t const> checkpoint;  ///< values before pieces 0, 64, 128, ...

    /// Where the values of `row` begin, 0 <= `row` <= `rows`.
    std::int32_t position(std::int32_t row) const;
};

/// CSRL with half the bytes for each run: runs are cut into pieces of at most 32 nonzeros, each of
/// which is described by one word. Units are rows.
template <class T>
struct PackedCsrl
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    AlignedArray<std::int32_t> first_piece = AlignedArray<std::int32_t>(1, 0);
    AlignedArray<Piece> piece;
    AlignedArray<T> values;
    AlignedArray<std::int32_t> checkpoint = AlignedArray<std::int32_t>(1, 0);

    std::size_t nonzeros() const { return values.size(); }

    /// Bytes of all arrays.
    std::size_t bytes() const;

    std::int32_t units() const { return rows; }

    /// Nonzeros of the rows before `row`, and the work of their pieces and of themselves.
    std::int64_t work_before(std::int32_t row) const
    {
        return std::int64_t{view().position(row)} + run_work * first_piece[row] + row_work * row;
    }

    PackedCsrlView<T> view() const
    {
        return {rows, columns, first_piece, piece, values, checkpoint};
    }
};

/// Finds and packs the runs. Throws `std::length_error` if the matrix has more than 2^27 columns.
/// The result does not depend on the number of threads.
template <class T>
PackedCsrl<T> to_packed_csrl(CsrView<T> const& a);

} // namespace sparse
