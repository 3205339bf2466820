#include "binary_size.hpp"

namespace machine_ceilings {

std::string binary_size(std::size_t bytes)
{
    constexpr std::size_t mebi = 1 << 20;
    return bytes < mebi ? std::to_string(bytes >> 10) + "_KiB"
                        : std::to_string(bytes / mebi) + "_MiB";
}

} // namespace machine_ceilings
