#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// A matrix in CSR by runs of consecutive columns, not owned. The article's names are given in
/// parentheses.
template <class T>
struct CsrlView
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::span<std::int32_t const> first_run;  ///< (ptr) rows + 1 offsets into the next two
    std::span<std::int32_t const> start;      ///< (jas) first column of each run
    std::span<std::int32_t const> length;     ///< (jan) nonzeros of each run
    std::span<T const> values;                ///< (val) row by row
    std::span<std::int32_t const> checkpoint; ///< values before runs 0, 64, 128, ...

    /// Where the values of `row` begin, 0 <= `row` <= `rows`.
    std::int32_t position(std::int32_t row) const;
};

/// A matrix in CSR by runs (CSRL), as the article has it: one column and one length for each run of
/// consecutive columns, not one column for each nonzero. Units are rows.
template <class T>
struct Csrl
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    AlignedArray<std::int32_t> first_run = AlignedArray<std::int32_t>(1, 0);
    AlignedArray<std::int32_t> start;
    AlignedArray<std::int32_t> length;
    AlignedArray<T> values;
    AlignedArray<std::int32_t> checkpoint = AlignedArray<std::int32_t>(1, 0);

    std::size_t nonzeros() const { return values.size(); }

    /// Bytes of all arrays.
    std::size_t bytes() const;

    std::int32_t units() const { return rows; }

    /// Nonzeros of the rows before `row`, and the work of their runs and of themselves.
    std::int64_t work_before(std::int32_t row) const
    {
        return std::int64_t{view().position(row)} + run_work * first_run[row] + row_work * row;
    }

    CsrlView<T> view() const
    {
        return {rows, columns, first_run, start, length, values, checkpoint};
    }
};

/// Finds the runs. The result does not depend on the number of threads.
template <class T>
Csrl<T> to_csrl(CsrView<T> const& a);

} // namespace sparse
