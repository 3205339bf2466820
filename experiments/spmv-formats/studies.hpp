#pragma once

#include "bench/experiment.hpp"
#include "sparse/catalogue/datasets.hpp"

#include <string>

/// The studies of this experiment but the one that compares all formats.
namespace spmv_formats {

/// apart.cpp: CSR and CSRL over the length of runs, and what takes their time: bytes without a
/// product, and products without bytes from memory. `kernels` names a set of instructions, as for
/// plans.
void add_apart(bench::Experiment& experiment, sparse::Datasets& datasets,
               std::string const& kernels);

} // namespace spmv_formats
