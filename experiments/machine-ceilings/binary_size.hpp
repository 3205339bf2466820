#pragma once

#include <cstddef>
#include <string>

namespace machine_ceilings {

/// "16_KiB", "4_MiB": a number of bytes that is a power of two.
std::string binary_size(std::size_t bytes);

} // namespace machine_ceilings
