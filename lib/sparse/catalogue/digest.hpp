#pragma once

#include "sparse/csr.hpp"

#include <string>

namespace sparse {

/// SHA-256 of a structure, as 64 hexadecimal digits.
///
/// The digest is that of rows, columns and nonzeros as little-endian 64-bit integers, then all row
/// offsets, then all column indices, as little-endian 32-bit integers if rows, columns and nonzeros
/// fit 31 bits, else 64-bit. It depends neither on the index type nor on the machine. Values take
/// no part. `I` is std::int32_t or std::int64_t.
template <class I>
std::string structure_digest(PatternView<I> pattern);

/// `structure_digest` of an owned structure.
template <class I>
std::string structure_digest(Pattern<I> const& pattern)
{
    return structure_digest(PatternView<I>{pattern});
}

} // namespace sparse
