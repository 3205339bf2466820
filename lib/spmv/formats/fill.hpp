#pragma once

#include <cstdint>

/// \file
/// How a format that fills rows or blocks up tells what it adds from a zero that the matrix stores:
/// entries that are zero are stored as +0, what fills up is -0. Sums begin with +0, so that adding
/// either to one changes nothing, and for an `x` that is infinite or NaN, where a product with any
/// zero is NaN, the row can be computed again without what fills it up. It takes no byte.

namespace sparse {

/// Units of a format that follow each other, of which some are filled up.
struct FilledUnits
{
    std::int32_t begin;
    std::int32_t end;
};

/// What is stored where the matrix has no entry.
template <class T>
inline constexpr T fill = T{-0.0};

/// An entry of the matrix as it is stored: itself, but +0 for -0.
template <class T>
constexpr T entry(T value)
{
    return value + T{0};
}

/// Whether the matrix has no entry where a format stores this.
template <class T>
[[gnu::always_inline]] inline bool is_fill(T stored)
{
    return stored == T{0} && __builtin_signbit(stored); // no copy in an object with special flags
}

} // namespace sparse
