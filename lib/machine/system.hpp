#pragma once

#include "machine/gpus.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace machine {

/// Hardware threads that this process may run on, by the system's numbers, ascending.
std::vector<int> affinity();

/// Bytes of main memory.
std::size_t memory_bytes();

/// The kernel's name and release: "Linux 6.1.0".
std::string operating_system();

/// A machine's name for folders and pages, in lower-case letters, digits and single hyphens: two
/// cores called "Intel(R) Xeon(R) Processor @ 2.50GHz" and four "NVIDIA H200" are an
/// "intel-xeon-2-50ghz-2c-4x-h200".
std::string slug(std::string_view cpu_model, int cores, std::vector<Gpu> const& gpus);

} // namespace machine
