#pragma once

#include "bench/trial.hpp"
#include "distributed/matrix.hpp"
#include "distributed/partition.hpp"

#include <string_view>
#include <vector>

/// Who gets which rows.
namespace partitioning {

using Partitioner = distributed::Partitioner<>;

/// Ranges of rows that follow each other.
extern std::vector<Partitioner> const contiguous_partitioners;

/// One of them.
Partitioner const& contiguous_partitioner(std::string_view name);

/// By the graph. The last ones that were cut are remembered: several variants and both checks of a
/// point ask for the same.
extern Partitioner const by_graph;

/// The plan's own choice, for caches as the trial leaves them.
distributed::Choice planned(bench::Trial const& trial);

} // namespace partitioning
