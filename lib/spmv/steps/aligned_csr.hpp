#pragma once

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv {

/// A CSR matrix whose three arrays each start on a cache line (64 bytes).
template <class T>
struct AlignedCsr
{
    std::int32_t rows;                          ///< of the matrix
    std::int32_t columns;                       ///< of the matrix
    sparse::AlignedArray<std::int32_t> row_ptr; ///< rows + 1 offsets
    sparse::AlignedArray<std::int32_t> col;     ///< zero-based column indices
    sparse::AlignedArray<T> values;             ///< one for each column index

    /// Copies the arrays of `a`.
    explicit AlignedCsr(sparse::CsrView<T> const& a)
        : rows{a.rows}, columns{a.columns}, row_ptr(a.row_ptr.begin(), a.row_ptr.end()),
          col(a.col.begin(), a.col.end()), values(a.values.begin(), a.values.end())
    {
    }

    /// Bytes of the three arrays.
    std::size_t bytes() const
    {
        return (row_ptr.size() + col.size()) * sizeof(std::int32_t) + values.size() * sizeof(T);
    }
};

} // namespace spmv
