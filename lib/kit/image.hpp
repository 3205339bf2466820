#pragma once

#include "kit/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kit {

/// The bytes of a region as a judge wants them before a call, and where in it y is.
struct Image
{
    std::vector<std::byte> bytes;
    std::size_t y;     ///< offset
    std::size_t count; ///< elements of y that belong to this rank
    std::size_t first; ///< element of the whole y
};

/// The images of all ranks: rows dealt evenly, arrays at other places each time, y poisoned with
/// numbers that are none.
std::vector<Image> images(Instance const& problem, int ranks, std::uint64_t seed);

} // namespace kit
