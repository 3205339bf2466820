#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// A matrix in CSR with 16-bit columns, not owned.
template <class T>
struct DeltaCsrView
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::span<std::int32_t const> row_ptr; ///< rows + 1 offsets into the last two
    std::span<std::int32_t const> first;   ///< first column of each row; 0 in an empty row
    std::span<std::uint16_t const> offset; ///< columns less the first of their row
    std::span<T const> values;             ///< one for each offset
};

/// CSR with the first column of each row in 32 bits and the distance of every entry to it in 16.
/// Distances to the row's first column, not to the entry before, need no running sum, so that
/// several columns can be found at once. Units are rows.
template <class T>
struct DeltaCsr
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    AlignedArray<std::int32_t> row_ptr = AlignedArray<std::int32_t>(1, 0);
    AlignedArray<std::int32_t> first;
    AlignedArray<std::uint16_t> offset;
    AlignedArray<T> values;

    std::size_t nonzeros() const { return values.size(); }

    /// Bytes of all arrays.
    std::size_t bytes() const;

    std::int32_t units() const { return rows; }

    /// Nonzeros of the rows before `row`, and the work of the rows.
    std::int64_t work_before(std::int32_t row) const
    {
        return std::int64_t{row_ptr[row]} + row_work * row;
    }

    DeltaCsrView<T> view() const { return {rows, columns, row_ptr, first, offset, values}; }
};

/// Narrows the columns. Throws `std::length_error` if the columns of a row differ by more than
/// 65535. The result does not depend on the number of threads.
template <class T>
DeltaCsr<T> to_delta_csr(CsrView<T> const& a);

} // namespace sparse
