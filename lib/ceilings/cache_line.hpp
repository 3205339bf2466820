#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ceilings {

/// Two CPUs by the operating system's numbers.
using CpuPair = std::pair<int, int>;

/// Every pair of as many evenly spaced `cpus` as give at most `limit` pairs.
std::vector<CpuPair> cpu_pairs(std::vector<int> const& cpus, std::size_t limit);

/// Two threads, bound to `cpus`, hand one cache line back and forth: each waits for the other's
/// number and stores the next. Returns the last number stored, which is `hand_overs`. Includes the
/// start of both threads, which is small against 10^5 hand-overs. Throws `std::system_error` where
/// this process may not use a CPU of `cpus`.
std::uint64_t hand_over(CpuPair cpus, std::uint64_t hand_overs);

/// What two counting threads arrived at.
using Counts = std::pair<std::uint64_t, std::uint64_t>;

/// Two threads, bound to `cpus`, each count to `steps` in a counter of their own; both counters lie
/// in one cache line (false sharing). Throws as `hand_over`.
Counts count_in_one_line(CpuPair cpus, std::uint64_t steps);

/// As `count_in_one_line`, with the counters 128 bytes apart: no line, and no pair of lines that a
/// prefetcher fetches together, is shared.
Counts count_in_two_lines(CpuPair cpus, std::uint64_t steps);

} // namespace ceilings
