#pragma once

#include "experiments/spmv.hpp"

/// The studies of causes: each takes away what may cost time, one suspect at a time and together.
namespace serial_steps {

/// Adds all of them.
void add_causes(bench::Experiment& experiment, sparse::Datasets& datasets);

/// chain.cpp: additions that wait for each other, in rows of each length.
void chain(sparse::Datasets& datasets, bench::Trial& trial);

/// suspects.cpp: ends of rows that are hard to predict, and scattered elements of `x`.
void suspects(sparse::Datasets& datasets, bench::Trial& trial);

/// columns.cpp: the bytes of column indices.
void columns(sparse::Datasets& datasets, bench::Trial& trial);

/// flags.cpp: what the compiler's flags allow, vectors and fused multiply-adds.
void flags(sparse::Datasets& datasets, bench::Trial& trial);

/// gathers.cpp: gather instructions.
void gathers(sparse::Datasets& datasets, bench::Trial& trial);

} // namespace serial_steps
