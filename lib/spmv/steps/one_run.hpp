#pragma once

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// \file
/// `y = A x` for matrices each row of which is one run of columns: the columns of a row follow from
/// the first one, so that they can be stored in fewer bytes, or not at all. The loop is that of
/// `unroll4_scalar`, compiled likewise.

namespace spmv {

/// Whether each row of `a` is one run of columns, of at most 2^16.
template <class T>
bool has_one_run_a_row(sparse::CsrView<T> const& a)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::int32_t const begin = a.row_ptr[i];
        std::int32_t const length = a.row_ptr[i + 1] - begin;
        bool const is_run = length < 2 || a.col[begin + length - 1] - a.col[begin] == length - 1;
        if (!is_run || length > 1 << 16) {
            return false;
        }
    }
    return true;
}

/// A matrix whose rows are one run of columns each, of at most 2^16.
struct OneRunCsr
{
    std::int32_t rows;                   ///< of the matrix
    sparse::Array<std::int32_t> row_ptr; ///< rows + 1 offsets
    sparse::Array<std::int32_t> first;   ///< the first column of each row; of an empty one 0
    sparse::Array<std::uint16_t> offset; ///< of each nonzero: columns beyond the first of its row
    sparse::Array<double> values;        ///< one for each nonzero

    /// Copies such a matrix.
    explicit OneRunCsr(sparse::CsrView<double> const& a)
        : rows{a.rows}, row_ptr(a.row_ptr.begin(), a.row_ptr.end()),
          values(a.values.begin(), a.values.end())
    {
        for (std::int32_t i = 0; i < rows; ++i) {
            std::int32_t const length = row_ptr[i + 1] - row_ptr[i];
            first.push_back(length > 0 ? a.col[row_ptr[i]] : 0);
            for (std::int32_t k = 0; k < length; ++k) {
                offset.push_back(static_cast<std::uint16_t>(k));
            }
        }
    }

    /// Bytes of its arrays.
    std::size_t bytes() const
    {
        return (row_ptr.size() + first.size()) * sizeof(std::int32_t) +
               offset.size() * sizeof(std::uint16_t) + values.size() * sizeof(double);
    }
};

/// Two bytes for the column of each nonzero in place of four.
void offsets16(OneRunCsr const& a, std::span<double const> x, std::span<double> y);

/// No column of a nonzero is read: it is counted. `a.offset` may be empty.
void no_columns(OneRunCsr const& a, std::span<double const> x, std::span<double> y);

} // namespace spmv
