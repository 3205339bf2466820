#pragma once

#include "bench/experiment.hpp"
#include "mpi/communicator.hpp"
#include "sparse/catalogue/datasets.hpp"

/// The studies of this experiment, each in a source of its own. `T` is float or double.
namespace partitioning {

/// matrix.cpp: one matrix, on the threads of one process, or on all ranks.
template <class T>
void measure_matrix(bench::Trial& trial, mpi::Communicator const& world,
                    sparse::Datasets& datasets);

/// apart.cpp: what a product of ranks that send ghosts costs beside the product: waiting for the
/// busiest rank, packing, sending; each taken away.
template <class T>
void measure_apart(bench::Trial& trial, mpi::Communicator const& world, sparse::Datasets& datasets);

/// weak_scaling.cpp: the 27-point stencil on a cube that grows with the number of ranks, each of
/// which makes its rows for itself.
template <class T>
void measure_weak_scaling(bench::Trial& trial, mpi::Communicator const& world);

/// Bytes of messages round a ring, from eight, which cost nothing but latency, to a megabyte; whole
/// elements in every precision.
bench::AxisValues message_bytes();

/// ring.cpp: messages round a ring of all ranks, sent as a halo exchange does.
template <class T>
void measure_ring(bench::Trial& trial, mpi::Communicator const& world);

/// Nonzeros of the files that are read.
bench::AxisValues nonzeros_in_file();

/// reading.cpp: how a matrix comes from a file to the ranks. Rank 0 reads it and deals out the
/// rows, or every rank reads a part. The file is written first, to the folder for temporary files.
void measure_reading(bench::Trial& trial, mpi::Communicator const& world);

} // namespace partitioning
