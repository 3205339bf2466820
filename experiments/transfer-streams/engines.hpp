#pragma once

#include "bench/trial.hpp"
#include "cuda/gpu.hpp"

#include <cstdint>

namespace transfer_streams {

/// Adds the copies of two arrays in locked pages to the device, of one of them back, and both at
/// once, all without chunks and kernels: what each engine takes alone.
void add_engines(bench::Trial& trial, cuda::Gpu& gpu, bench::Input<std::int32_t> const& a,
                 bench::Input<std::int32_t> const& b);

} // namespace transfer_streams
