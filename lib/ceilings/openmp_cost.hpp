#pragma once

#include <cstdint>
#include <vector>

namespace ceilings {

/// Opens `regions` parallel regions one after the other, in which a thread only counts. Returns how
/// many each of the `threads` threads took part in.
std::vector<std::uint64_t> parallel_regions(int threads, std::uint64_t regions);

/// Opens one parallel region, in which all threads meet at `barriers` barriers. Returns how many
/// each of the `threads` threads passed.
std::vector<std::uint64_t> barriers(int threads, std::uint64_t barriers);

} // namespace ceilings
