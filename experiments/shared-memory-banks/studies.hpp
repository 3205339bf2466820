#pragma once

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"

/// The studies of this experiment, each in a source of its own.
namespace shared_memory_banks {

/// patterns.cpp: every known pattern, or those that the command line describes, read and written.
void add_patterns(bench::Experiment& experiment, cuda::Gpu& gpu);

/// distributed.cpp: shared memory of the block itself, and of another block of its cluster.
void add_distributed(bench::Experiment& experiment, cuda::Gpu& gpu);

} // namespace shared_memory_banks
