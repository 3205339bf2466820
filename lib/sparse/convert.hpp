#pragma once

#include "sparse/coo.hpp"
#include "sparse/csr.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

namespace sparse {

/// Sorts coordinates by row, then column; duplicates are summed in order of appearance, zeros are
/// kept. The result does not depend on the number of threads.
///
/// Throws `std::invalid_argument` if the three arrays differ in length or an index lies outside
/// the matrix, `std::length_error` if `I` cannot count the entries.
template <class T, class I>
Csr<T, I> to_csr(Coo<T, I> const& coo);

/// As above; gives the memory of `coo` back on the way.
template <class T, class I>
Csr<T, I> to_csr(Coo<T, I>&& coo);

/// The matrix with its rows sorted by column, and entries of one place added up in order of
/// appearance. `a` is one that `has_sorted_rows` takes. The result does not depend on the number of
/// threads.
template <class T, class I>
Csr<T, I> sorted(CsrView<T, I> const& a);

/// `value` as a `J`; throws `std::length_error` if it does not fit.
template <class J>
J checked_index(std::size_t value)
{
    if (value > static_cast<std::size_t>(std::numeric_limits<J>::max())) {
        throw std::length_error{"a matrix is too large for its index type"};
    }
    return static_cast<J>(value);
}

/// The same structure with indices of type `J`; throws `std::length_error` if rows, columns or
/// nonzeros do not fit.
template <class J, class I>
Pattern<J> to_index(PatternView<I> const& a)
{
    checked_index<J>(a.nonzeros());
    return {checked_index<J>(static_cast<std::size_t>(a.rows)),
            checked_index<J>(static_cast<std::size_t>(a.columns)),
            Array<J>(a.row_ptr.begin(), a.row_ptr.end()), Array<J>(a.col.begin(), a.col.end())};
}

/// The same matrix with indices of type `J`; throws `std::length_error` if rows, columns or
/// nonzeros do not fit.
template <class J, class T, class I>
Csr<T, J> to_index(CsrView<T, I> const& a)
{
    auto structure = to_index<J>(PatternView<I>{a});
    return {structure.rows, structure.columns, std::move(structure.row_ptr),
            std::move(structure.col), Array<T>(a.values.begin(), a.values.end())};
}

} // namespace sparse
