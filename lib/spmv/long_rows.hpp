#pragma once

#include "sparse/csr.hpp"

#include <cstdint>
#include <vector>

namespace spmv {

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
