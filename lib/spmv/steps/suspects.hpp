#pragma once

#include "sparse/csr.hpp"

#include <cstdint>

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

} // namespace spmv
