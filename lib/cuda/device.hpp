#pragma once

#include <cstddef>
#include <string>

namespace cuda {

/// Why no device can be used here, in the words of the runtime; empty if one can.
std::string missing_device();

/// Multiprocessors of the current device.
unsigned multiprocessors();

/// Bytes of the last-level cache of the current device.
std::size_t l2_bytes();

/// Bytes of shared memory that a block of the current device can have.
std::size_t shared_bytes();

/// Version of the CUDA runtime that the program is linked with: "13.0".
std::string runtime_version();

} // namespace cuda
