#pragma once

#include "sparse/csr.hpp"

#include <cstdint>
#include <vector>

namespace spmv {

/// What the lengths of the rows tell: some may multiply better in pieces than in a lane of a chunk.
struct RowLengths
{
    std::int32_t max = 0;   ///< nonzeros of the longest row
    std::int32_t limit = 0; ///< with more nonzeros a row is long; the largest number if none is
    double long_rows = 0;   ///< how many there are
    double nonzeros = 0;    ///< in long rows
    double runs = 0;        ///< of consecutive columns in long rows
};

/// Looks at all rows of `a`. Long ones have more than 128 nonzeros and
/// more than four times the mean.
template <class T>
RowLengths row_lengths(sparse::CsrView<T> const& a);

/// Rows so long that they are cut into pieces: no lane of a vector and no thread waits for one.
template <class T>
struct LongRows
{
    std::vector<std::int32_t> rows;        ///< of the matrix, ascending
    std::vector<std::int32_t> first_piece; ///< of each of them, and the end
    sparse::Csr<T> pieces;                 ///< each piece as a row
};

/// Rows of `a` with more than `longest` nonzeros, in pieces of at most `piece` nonzeros.
template <class T>
LongRows<T> long_rows(sparse::CsrView<T> const& a, std::int32_t longest, std::int32_t piece);

/// `a` with those rows empty.
template <class T>
sparse::Csr<T> without_long_rows(sparse::CsrView<T> const& a, std::int32_t longest);

} // namespace spmv
