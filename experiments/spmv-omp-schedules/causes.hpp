#pragma once

#include "experiments/spmv.hpp"

/// The studies of causes: each takes away what may cost time, one suspect at a time and together.
namespace schedules {

/// Adds all of them.
void add_causes(bench::Experiment& experiment, sparse::Datasets& datasets);

/// dealing.cpp: asking for each row, and writing lines of `y` that other threads write.
void dealing(sparse::Datasets& datasets, bench::Trial& trial);

/// regions.cpp: starting threads, and waiting for the last.
void regions(sparse::Datasets& datasets, bench::Trial& trial);

/// imbalance.cpp: shares that take longer than others.
void imbalance(sparse::Datasets& datasets, bench::Trial& trial);

/// As above, one thread: two halves of the nonzeros, and the rows that they lie in.
void halves(sparse::Datasets& datasets, bench::Trial& trial);

/// waiting.cpp: uneven rows and scattered elements of `x`, on all threads; what is left is memory.
void waiting(sparse::Datasets& datasets, bench::Trial& trial);

} // namespace schedules
