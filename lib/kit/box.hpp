#pragma once

#include "kit/link.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace kit {

/// What one rank is called with: numbers and arrays, in the order in which its problem has them.
struct Part
{
    std::int32_t number[most_numbers];
    std::span<std::byte> array[most_arrays];

    /// An array to read.
    template <class T>
    std::span<T const> in(std::size_t k) const
    {
        return {reinterpret_cast<T const*>(array[k].data()), array[k].size() / sizeof(T)};
    }

    /// The array to write.
    template <class T>
    std::span<T> out(std::size_t k) const
    {
        return {reinterpret_cast<T*>(array[k].data()), array[k].size() / sizeof(T)};
    }
};

/// Calls the function that is handed in: each kit has one of its own.
void call(Part const& part);

/// Does for each call what `work` does with the region and its size in bytes, until the judge
/// behind the socket at `path` goes.
int serve(char const* path, int rank, std::function<void(char*, std::size_t)> const& work);

/// As above: calls what is handed in.
int serve(char const* path, int rank);

} // namespace kit
