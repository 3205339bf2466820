#pragma once

#include <cstdint>

namespace base {

/// How many parts of a size hold so many: count / size, rounded up.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t size)
{
    return (count + size - 1) / size;
}

} // namespace base
