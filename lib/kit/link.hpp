#pragma once

#include <cstdint>

/// \file
/// The memory that a judge and a box share. A box is the process in which one contender lives; it
/// has a region for each rank, which the judge fills anew before each call.

namespace kit {

constexpr int most_numbers = 8; ///< that a function is called with
constexpr int most_arrays = 8;

/// The beginning of a region: what is to be called, with numbers and then arrays, in the order of
/// the function's arguments.
struct Header
{
    /// Where an array lies, in bytes from the beginning of the region.
    struct Array
    {
        std::uint64_t offset;
        std::uint64_t bytes;
    };

    char function[32];
    std::int32_t numbers;
    std::int32_t arrays;
    std::int32_t output; ///< which of the arrays is written
    std::int32_t grid;   ///< of a GPU: so many of the numbers, the first ones, are dealt to blocks
    std::int32_t number[most_numbers];
    Array array[most_arrays];
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
