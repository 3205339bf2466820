#pragma once

#include "sparse/csr.hpp"

#include <cstdint>

namespace sparse {

/// Whether the columns of every row ascend, none twice, in a matrix that a caller made.
///
/// Here it is decided what a matrix is: throws `std::invalid_argument`, with what was found where
/// and what was expected, unless sizes are not negative, there are `rows` + 1 offsets, the first 0,
/// none below the one before it and the last the number of columns in `col`, all of which the
/// matrix has. Reads both arrays once.
template <class I>
bool has_sorted_rows(PatternView<I> const& a);

/// As above, with as many values as columns.
template <class T, class I>
bool has_sorted_rows(CsrView<T, I> const& a);

/// Throws `std::invalid_argument` as above, and if a row is not sorted: formats are made of sorted
/// rows.
template <class T>
void require_sorted_rows(CsrView<T> const& a);

} // namespace sparse
