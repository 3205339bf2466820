#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

/// \file
/// Sizes and places of memory that a caller names, checked before anything is done with them.

namespace base {

/// No array has more bytes: else the distance of two of its elements would have no type.
inline constexpr std::size_t most_bytes = PTRDIFF_MAX;

/// Bytes of `count` pieces of `each` bytes. Throws std::invalid_argument, in the name of `who`, if
/// no memory has so many.
inline std::size_t bytes_of(char const* who, std::size_t count, std::size_t each)
{
    if (each > 0 && count > most_bytes / each) {
        throw std::invalid_argument{std::string{who} + ": found " + std::to_string(count) +
                                    " times " + std::to_string(each) + " bytes, expected at most " +
                                    std::to_string(most_bytes) + " in all"};
    }
    return count * each;
}

/// Throws std::invalid_argument, in the name of `who`, if so many bytes at `memory` cannot be: they
/// begin at a null pointer, or are more than any memory has.
inline void require_memory(char const* who, void const* memory, std::size_t bytes)
{
    bytes_of(who, bytes, 1);
    if (memory == nullptr && bytes > 0) {
        throw std::invalid_argument{std::string{who} + ": found a null pointer for " +
                                    std::to_string(bytes) + " bytes, expected memory"};
    }
}

/// Whether some byte lies in both places.
inline bool overlap(void const* a, std::size_t a_bytes, void const* b, std::size_t b_bytes)
{
    auto const of_a = reinterpret_cast<std::uintptr_t>(a);
    auto const of_b = reinterpret_cast<std::uintptr_t>(b);
    return a_bytes > 0 && b_bytes > 0 && of_a < of_b + b_bytes && of_b < of_a + a_bytes;
}

} // namespace base
