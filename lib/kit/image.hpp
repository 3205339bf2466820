#pragma once

#include "kit/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kit {

/// What a rank is called with: numbers and then arrays, in the order of the function's arguments.
struct Invocation
{
    std::string function;
    std::vector<std::int32_t> numbers;
    std::vector<std::span<std::byte const>> arrays;
    std::size_t output; ///< which of the arrays is written
    std::size_t first;  ///< element of the whole result with which it begins
    std::int32_t grid;  ///< of a GPU: so many of the numbers, the first ones, are dealt to blocks
};

/// The bytes of a region as a judge wants them before a call, and where in it the output is.
struct Image
{
    std::vector<std::byte> bytes;
    std::size_t output;       ///< offset
    std::size_t output_bytes; ///< that belong to this rank
    std::size_t first;        ///< element of the whole result
};

/// The image of an invocation: arrays at places that `random` chooses.
Image image(Invocation const& call, Random& random);

/// The bytes of anything that lies in one piece.
template <class Range>
std::span<std::byte const> bytes_of(Range const& range)
{
    return std::as_bytes(std::span{range});
}

} // namespace kit
