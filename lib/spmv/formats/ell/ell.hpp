#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/fill.hpp"
#include "spmv/formats/work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// A matrix in ELLPACK, not owned.
template <class T>
struct EllView
{
    std::int32_t rows = 0;
    std::int32_t width = 0; ///< entries of every row, padding included
    std::span<std::int32_t const>
        column;                          ///< `rows` first entries, then the second of all rows, ...
    std::span<T const> values;           ///< as `column`; `fill` where a row has ended
    bool mostly_filled = false;          ///< most rows are shorter than `width`
    std::span<FilledUnits const> filled; ///< else these, and a few between them
};

/// ELLPACK (Rice and Boisvert 1985): every row is filled up to the longest, and the first entries
/// of all rows lie side by side, then the second, and so on. Units are rows.
///
/// Padding repeats the last column of its row, or is column 0 in an empty row: if `x` is infinite
/// or NaN there, the row becomes NaN and has to be computed again without
/// (see `fill.hpp`).
template <class T>
struct Ell
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int32_t width = 0;
    std::size_t entries = 0; ///< nonzeros of the matrix it was made from
    AlignedArray<std::int32_t> column;
    AlignedArray<T> values;
    bool mostly_filled = false;
    AlignedArray<FilledUnits> filled;

    std::size_t nonzeros() const { return entries; }

    /// Bytes of all arrays.
    std::size_t bytes() const
    {
        return column.size() * sizeof(std::int32_t) + values.size() * sizeof(T) +
               filled.size() * sizeof(FilledUnits);
    }

    std::int32_t units() const { return rows; }

    /// Stored entries of the rows before `row`, and the work of the rows.
    std::int64_t work_before(std::int32_t row) const { return row * (width + row_work); }

    EllView<T> view() const { return {rows, width, column, values, mostly_filled, filled}; }
};

/// Fills up rows. Throws `std::length_error` if more than three entries would be stored for each
/// nonzero. The result does not depend on the number of threads.
template <class T>
Ell<T> to_ell(CsrView<T> const& a);

} // namespace sparse
