#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

namespace spmv::gpu {

/// Calls `action` with `lanes` as a compile-time constant: 2, 4, 8, 16 or 32. Throws
/// `std::invalid_argument` for another number.
template <class Action>
void with_lanes(int lanes, Action const& action)
{
    switch (lanes) {
    case 2:
        return action(std::integral_constant<int, 2>{});
    case 4:
        return action(std::integral_constant<int, 4>{});
    case 8:
        return action(std::integral_constant<int, 8>{});
    case 16:
        return action(std::integral_constant<int, 16>{});
    case 32:
        return action(std::integral_constant<int, 32>{});
    default:
        throw std::invalid_argument{"vector kernel: found " + std::to_string(lanes) +
                                    " lanes, expected 2, 4, 8, 16 or 32"};
    }
}

} // namespace spmv::gpu
