#pragma once

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"

/// The studies of this experiment, each in a source of its own.
namespace transfer_modes {

/// modes.cpp: the ways that a program chooses from, at every size.
void add_modes(bench::Experiment& experiment, cuda::Gpu& gpu);

/// As above: a gibibyte in locked pages, where what a latency costs cannot be seen.
void add_large(bench::Experiment& experiment, cuda::Gpu& gpu);

/// As above: every flag that locked pages can have.
void add_kinds(bench::Experiment& experiment, cuda::Gpu& gpu);

/// staged.cpp: our copy of pageable memory by one to eight threads, between the runtime's and
/// locked pages, and what its stores, chunks and buffer do for it.
void add_staged(bench::Experiment& experiment, cuda::Gpu& gpu);

/// engine.cpp: a copy of locked pages to the device, which cores have read or written just before.
void add_engine(bench::Experiment& experiment, cuda::Gpu& gpu);

/// zero_copy.cpp: a kernel reads an array on the host by itself, after a copy, or in pages that
/// move.
void add_zero_copy(bench::Experiment& experiment, cuda::Gpu& gpu);

/// dot.cpp: the article's product of two vectors on the host.
void add_dot(bench::Experiment& experiment, cuda::Gpu& gpu);

/// capacity.cpp: a kernel reads more of the host's memory than the device has.
void add_capacity(bench::Experiment& experiment, cuda::Gpu& gpu);

/// pitched.cpp: rows on the device with pitches, copied and read.
void add_pitched(bench::Experiment& experiment, cuda::Gpu& gpu);

/// allocation.cpp: what it costs to allocate and release memory of each kind once.
void add_allocation(bench::Experiment& experiment, cuda::Gpu& gpu);

/// starved.cpp: what is left of the host when much of its memory is locked.
void add_starved(bench::Experiment& experiment, cuda::Gpu& gpu);

/// host_side.cpp: the host itself reads and writes memory of each kind, and what that leaves in its
/// cache.
void add_host_side(bench::Experiment& experiment, cuda::Gpu& gpu);

/// pieces.cpp: a thousand pieces that lie apart on the host and together on the device.
void add_pieces(bench::Experiment& experiment, cuda::Gpu& gpu);

/// behind.cpp: a small copy alone, and behind a large one in another stream.
void add_behind(bench::Experiment& experiment, cuda::Gpu& gpu);

/// apart.cpp: a copy of pageable memory, and what it consists of, each alone: the bus, the copy on
/// the host, and faults of pages that are new.
void add_apart(bench::Experiment& experiment, cuda::Gpu& gpu);

/// numa.cpp: locked pages of each NUMA node.
void add_numa(bench::Experiment& experiment, cuda::Gpu& gpu);

} // namespace transfer_modes
