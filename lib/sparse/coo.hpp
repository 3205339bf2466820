#pragma once

#include "sparse/csr.hpp"

namespace sparse {

/// Coordinates and values in any order, duplicates allowed; indices are zero-based.
template <class T, class I = std::int32_t>
struct Coo
{
    I rows = 0;
    I columns = 0;
    Array<I> row;
    Array<I> col;
    Array<T> values;

    std::size_t nonzeros() const { return col.size(); }
};

} // namespace sparse
