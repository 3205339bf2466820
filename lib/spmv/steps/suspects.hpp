#pragma once

#include "base/random.hpp"
#include "sparse/csr.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

/// \file
/// Matrices from which one thing that may cost time is taken away. They keep their rows, columns,
/// nonzeros and values, so that a product does as much work and reads as many bytes as before.
/// Within a row columns may come in any order then, and more than once, which no step minds.

namespace spmv {

/// Cuts the nonzeros of `a` into rows that are as equal in length as can be: where a row ends is no
/// surprise.
//! [equal_rows]
template <class T>
sparse::Csr<T> equal_rows(sparse::Csr<T> a)
{
    auto const nonzeros = static_cast<std::int64_t>(a.nonzeros());
    for (std::int32_t i = 1; i < a.rows; ++i) {
        a.row_ptr[i] = static_cast<std::int32_t>(nonzeros * i / a.rows);
    }
    return a;
}
//! [equal_rows]

/// Gives the nonzeros of `a` the columns 0, 1, 2, ... and again from 0: `x` is read in order.
//! [x_in_order]
template <class T>
sparse::Csr<T> x_in_order(sparse::Csr<T> a)
{
    for (std::size_t p = 0; p < a.nonzeros(); ++p) {
        a.col[p] = static_cast<std::int32_t>(p % static_cast<std::size_t>(a.columns));
    }
    return a;
}
//! [x_in_order]

/// Puts the rows of `a` in a random order: shares of as many rows have about as many nonzeros, and
/// take about as long.
//! [shuffled_rows]
template <class T>
sparse::Csr<T> shuffled_rows(sparse::Csr<T> const& a)
{
    std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
    std::iota(order.begin(), order.end(), 0);
    base::Random{1}.shuffle(order);
    sparse::Csr<T> shuffled;
    shuffled.rows = a.rows;
    shuffled.columns = a.columns;
    for (std::int32_t const i : order) {
        auto const begin = a.row_ptr[i];
        auto const end = a.row_ptr[i + 1];
        shuffled.col.insert(shuffled.col.end(), a.col.begin() + begin, a.col.begin() + end);
        shuffled.values.insert(shuffled.values.end(), a.values.begin() + begin,
                               a.values.begin() + end);
        shuffled.row_ptr.push_back(static_cast<std::int32_t>(shuffled.nonzeros()));
    }
    return shuffled;
}
//! [shuffled_rows]

/// The rows of `a` that hold the first half of its nonzeros, or the others, as a matrix.
template <class T>
sparse::Csr<T> half_of(sparse::Csr<T> const& a, bool first)
{
    auto const middle = static_cast<std::int32_t>(a.nonzeros() / 2);
    auto const cut = static_cast<std::int32_t>(
        std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), middle) - a.row_ptr.begin() - 1);
    auto const row = first ? 0 : cut;
    auto const begin = a.row_ptr[row];
    auto const end_row = first ? cut : a.rows;
    auto const end = a.row_ptr[end_row];
    sparse::Csr<T> half{end_row - row,
                        a.columns,
                        {a.row_ptr.begin() + row, a.row_ptr.begin() + end_row + 1},
                        {a.col.begin() + begin, a.col.begin() + end},
                        {a.values.begin() + begin, a.values.begin() + end}};
    for (std::int32_t& offset : half.row_ptr) {
        offset -= begin;
    }
    return half;
}

/// Cuts the nonzeros of `a` into rows as long as those of `other`, as far as they go; the last row
/// has what is left.
//! [in_rows_of]
template <class T>
sparse::Csr<T> in_rows_of(sparse::Csr<T> a, sparse::Csr<T> const& other)
{
    a.rows = other.rows;
    a.row_ptr = other.row_ptr;
    auto const nonzeros = static_cast<std::int32_t>(a.nonzeros());
    for (std::int32_t& offset : a.row_ptr) {
        offset = std::min(offset, nonzeros);
    }
    a.row_ptr.back() = nonzeros;
    return a;
}
//! [in_rows_of]

} // namespace spmv
