#pragma once

#include "ceilings/array.hpp"

#include <cstddef>
#include <cstdint>

namespace ceilings {

/// A cycle through all cache lines of some memory, in random order: each line names the next, so
/// that no load can begin before the one before has ended, and no prefetcher can guess where.
class PointerChase
{
public:
    /// In `bytes` of memory, rounded down to lines of 64 bytes, at least two.
    explicit PointerChase(std::size_t bytes);

    /// Loads `steps` lines, from where the last call stopped. Returns how many they were, as the
    /// places of the first and the last one tell.
    std::uint64_t follow(std::uint64_t steps);

    std::size_t lines() const { return lines_.span().size(); }
    std::size_t bytes() const { return lines_.span().size_bytes(); }

private:
    /// One line of memory.
    struct alignas(line_bytes) Line
    {
        Line const* next = nullptr;
        std::uint64_t place = 0; ///< in the cycle
    };

    Array<Line> lines_;
    Line const* at_;
};

} // namespace ceilings
