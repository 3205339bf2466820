#pragma once

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"

// What a GPU and its bus can do at best, for `bench::Experiment::ceiling(gpu, ...)`. Needs no
// header of the toolkit: where it was absent, `absent.cpp` stands in.

namespace ceilings {

/// "device_read": bandwidth of reading its memory.
bench::Ceiling device_read(cuda::Gpu& gpu);

/// "device_l2": bandwidth of reading what lies in its last-level cache.
bench::Ceiling device_l2(cuda::Gpu& gpu);

/// "device_copy": bandwidth of copying in its memory, one byte read for each byte written.
bench::Ceiling device_copy(cuda::Gpu& gpu);

/// "device_fma_fp32" or "device_fma_fp64": rate of fused multiply-adds in registers.
template <class T>
bench::Ceiling device_fma(cuda::Gpu& gpu);

/// "bus_to_device", "bus_to_host": bandwidth of the bus from pinned memory, and back.
bench::Ceiling bus_to_device(cuda::Gpu& gpu);
bench::Ceiling bus_to_host(cuda::Gpu& gpu);

} // namespace ceilings
