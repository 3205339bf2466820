#pragma once

#include <cstdint>

/// \file
/// The memory that a judge and a box share. A box is the process in which one contender lives; it
/// has a region for each rank, which the judge fills anew before each call.

namespace kit {

/// The beginning of a region. The others are places in it, in bytes from its beginning.
struct Header
{
    std::int32_t rows;    ///< of this rank
    std::int32_t columns; ///< of the whole matrix
    std::int32_t nonzeros;
    std::int32_t x_count; ///< elements of x that this rank has
    std::int32_t y_count;
    std::int32_t vectors;
    std::int32_t ranks;
    std::uint64_t row_ptr;
    std::uint64_t col;
    std::uint64_t values;
    std::uint64_t x;
    std::uint64_t y;
    std::uint64_t
        starts; ///< ranks + 1 numbers: the first row of each rank, last the number of rows
};

/// The end of a region, where a box whose host code is the kit's own tells what a call was.
struct Tail
{
    double seconds;
    char fault[248]; ///< empty, or why there is no result
};

/// What the judge says to a rank that has connected and said its number; the descriptor of the
/// region comes with it. What follows on that socket are numbers: the judge sends one that cannot
/// be guessed to start a call, and the rank sends it back when the call is done. The first is this.
struct Greeting
{
    std::uint64_t bytes; ///< of the region
    std::uint64_t number;
};

} // namespace kit
