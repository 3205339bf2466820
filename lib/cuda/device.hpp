#pragma once

#include "cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace cuda {

/// Why no device can be used here, in the words of the runtime; empty if one can.
::std::string missing_device();

/// Multiprocessors of the current device.
unsigned multiprocessors();

/// Threads that the multiprocessors of the current device keep at once, all together.
::std::int64_t resident_threads();

/// Bytes of the last-level cache of the current device.
::std::size_t l2_bytes();

/// What evicts everything from the caches of the current device at each call, by reading four times
/// its last-level cache. It only reads, so that no write-back of its own lines is left to the timed
/// call. It is put into `stream`, which must outlive it, and the call returns at once: what is
/// issued next is waiting when the flush ends, so that it starts without a gap.
::std::function<void()> cache_flush(Stream const& stream);

/// Whether so many bytes, read again and again, stay in the last-level cache of the current device.
bool stays_in_l2(::std::size_t bytes);

/// Whether a kernel can begin on the current device before the one it depends on has ended
/// (programmatic dependent launch, compute capability 9.0 and later).
bool overlaps_launches();

/// Bytes of shared memory that a block of the current device can have.
::std::size_t shared_bytes();

/// Where the current device is on the PCI bus: "0000:00:06.0".
::std::string bus_id();

/// Version of the CUDA runtime that the program is linked with: "13.0".
::std::string runtime_version();

} // namespace cuda
