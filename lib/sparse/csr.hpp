#pragma once

#include "sparse/allocator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// A matrix in compressed sparse rows, not owned: what every kernel takes.
///
/// Row `i` holds the entries `row_ptr[i] <= p < row_ptr[i + 1]` with columns `col[p]`, sorted
/// and unique within the row, and values `values[p]`. `I` is `std::int32_t` or `std::int64_t`.
/// `check.hpp` tells a matrix from arrays that are none.
template <class T, class I = std::int32_t>
struct CsrView
{
    I rows = 0;
    I columns = 0;
    std::span<I const> row_ptr; ///< rows + 1 offsets, first 0, last nonzeros()
    std::span<I const> col;     ///< nonzeros() zero-based column indices
    std::span<T const> values;  ///< nonzeros() values

    std::size_t nonzeros() const { return col.size(); }
};

/// A matrix in compressed sparse rows that owns its arrays. Arrays keep malloc's alignment.
template <class T, class I = std::int32_t>
struct Csr
{
    I rows = 0;
    I columns = 0;
    Array<I> row_ptr = Array<I>(1, I{0}); ///< rows + 1 offsets
    Array<I> col;                         ///< zero-based column indices, sorted within a row
    Array<T> values;

    std::size_t nonzeros() const { return col.size(); }

    /// Bytes of the three arrays.
    std::size_t bytes() const
    {
        return (row_ptr.size() + col.size()) * sizeof(I) + values.size() * sizeof(T);
    }

    CsrView<T, I> view() const { return {rows, columns, row_ptr, col, values}; }
    operator CsrView<T, I>() const { return view(); }
};

/// The structure of a CSR matrix without values: what features and generators work on.
template <class I = std::int32_t>
struct Pattern
{
    I rows = 0;
    I columns = 0;
    Array<I> row_ptr = Array<I>(1, I{0});
    Array<I> col;

    std::size_t nonzeros() const { return col.size(); }
};

/// Non-owning structure of a CSR matrix.
template <class I = std::int32_t>
struct PatternView
{
    I rows = 0;
    I columns = 0;
    std::span<I const> row_ptr;
    std::span<I const> col;

    PatternView() = default;
    PatternView(I row_count, I column_count, std::span<I const> offsets, std::span<I const> indices)
        : rows{row_count}, columns{column_count}, row_ptr{offsets}, col{indices}
    {
    }
    PatternView(Pattern<I> const& p) : PatternView{p.rows, p.columns, p.row_ptr, p.col} {}
    template <class T>
    PatternView(CsrView<T, I> const& a) : PatternView{a.rows, a.columns, a.row_ptr, a.col}
    {
    }
    template <class T>
    PatternView(Csr<T, I> const& a) : PatternView{a.rows, a.columns, a.row_ptr, a.col}
    {
    }

    std::size_t nonzeros() const { return col.size(); }
};

} // namespace sparse
