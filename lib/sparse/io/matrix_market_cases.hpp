#pragma once

#include <cstddef>
#include <cstdint>
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
    int row;      ///< from 1
    int col;      ///< from 1
    double value; ///< real part
};

/// A text that is read.
struct Good
{
    std::string_view name;         ///< what is awkward about it
    std::string_view text;         ///< the file
    int rows;                      ///< of the matrix
    int columns;                   ///< of the matrix
    std::vector<Nonzero> nonzeros; ///< by row, then column
};

/// A text that is refused.
struct Bad
{
    std::string_view name;     ///< what is wrong with it
    std::string_view text;     ///< the file
    std::size_t line;          ///< line the error names
    std::string_view found;    ///< part of the error
    std::string_view expected; ///< part of the error
};

/// All texts that must be read.
std::span<Good const> good();

/// All texts that must be refused.
std::span<Bad const> bad();

} // namespace sparse::cases
