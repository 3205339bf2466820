#pragma once

#include "bench/trial.hpp"

/// The studies of the host: memory first, then what processors compute and tell each other.
namespace machine_ceilings {

/// bandwidth.cpp: the dot product of two arrays, nothing but reads. `T` is float or double.
template <class T>
void read(bench::Trial& trial);

/// As above: one array into another.
void copy(bench::Trial& trial);

/// As above: two arrays, one of them scaled, into a third.
void triad(bench::Trial& trial);

/// latency.cpp: loads that wait for each other, in working sets from a first-level cache to memory.
void latency(bench::Trial& trial);

/// fma.cpp: multiply-adds in registers, with each instruction set of this CPU, and in a single
/// chain. `T` is float or double.
template <class T>
void fma(bench::Trial& trial);

/// threads.cpp: opening a parallel region, and meeting at a barrier inside one.
void fork_join(bench::Trial& trial);

/// As above: handing a cache line from one CPU to another and back, for at most 28 pairs.
void hand_over(bench::Trial& trial);

/// As above: two counters in one cache line, and in two.
void false_sharing(bench::Trial& trial);

} // namespace machine_ceilings
