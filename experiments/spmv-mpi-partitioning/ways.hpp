#pragma once

#include "bench/trial.hpp"
#include "distributed/matrix.hpp"
#include "distributed/partition.hpp"

#include <string_view>
#include <vector>

/// Who gets which rows.
namespace partitioning {

using Way = distributed::Way<>;

/// Ranges of rows that follow each other.
extern std::vector<Way> const contiguous_ways;

/// One of them.
Way const& contiguous_way(std::string_view name);

/// By the graph. The last ones that were cut are remembered: several variants and both checks of a
/// point ask for the same.
extern Way const by_graph;

/// The plan's own choice, for caches as the trial leaves them.
distributed::Choice planned(bench::Trial const& trial);

} // namespace partitioning
