#pragma once

#include "bench/experiment.hpp"
#include "mpi/communicator.hpp"

namespace partitioning {

/// Nonzeros of the files that are read.
bench::AxisValues nonzeros_in_file();

/// Measures how a matrix comes from a file to the ranks: rank 0 reads it and deals out the rows, or
/// every rank reads a part. The file is written first, to the folder for temporary files.
void measure_reading(bench::Trial& trial, mpi::Communicator const& world);

} // namespace partitioning
