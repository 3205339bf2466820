#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

/// \file
/// Small Matrix Market texts for the tests and for the fuzzer's first corpus: what must be read,
/// with what it holds, and what must be refused, with the line and the words of the error.

namespace sparse::cases {

/// A nonzero, one-based as in a file.
struct Nonzero
{
    int row;
    int col;
    double value;
};

/// A text that is read.
struct Good
{
    std::string_view name;
    std::string_view text;
    int rows;
    int columns;
    std::vector<Nonzero> nonzeros; ///< by row, then column
};

/// A text that is refused.
struct Bad
{
    std::string_view name;
    std::string_view text;
    std::size_t line;
    std::string_view found;    ///< part of the error
    std::string_view expected; ///< part of the error
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::span<Good const> good();
std::span<Bad const> bad();

} // namespace sparse::cases
