#pragma once

#include "bench/experiment.hpp"

#include <cstdint>

/// What this experiment measures at, beside matrices.
namespace partitioning {

/// Bytes of messages round a ring, from eight, which cost nothing but latency, to a megabyte; whole
/// elements in every precision.
bench::AxisValues message_bytes();

/// Points along each side of the cube that all ranks share, such that a rank has about 100,000 rows
/// in company as alone: 32 MB in double precision, far more than the caches of a core hold.
std::int64_t weak_side(int ranks);

/// The bandwidth of reading of so many ranks together.
bench::Ceiling read_on_all_ranks(int ranks, int threads);

} // namespace partitioning
