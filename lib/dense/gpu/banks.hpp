#pragma once

#include "cuda/stream.hpp"
#include "dense/banks.hpp"

#include <cstdint>
#include <span>

namespace dense::gpu {

/// Accesses of a warp that one call of `bank_cycles` times.
inline constexpr int accesses_of_warp = 2048;
inline constexpr int warps_of_block = 32;

/// Words of `results`: what each lane read last, or what lies in shared memory where each lane
/// wrote; `bytes / 4` for each of 32 lanes.
std::size_t bank_results(AccessPattern const& pattern);

/// Warps of one block repeat an access. `words` are the lanes' first words in device memory,
/// `values` `pattern.words()` floats that shared memory begins with (reads) or that lanes write
/// (writes: word i of a lane's access takes the value of its own place); `results` gets what was
/// read or lies there. `cycles` gets one number: cycles of the multiprocessor from the first access
/// to the last. Throws std::invalid_argument for a pattern that is not sound and spans too short.
void bank_cycles(AccessPattern const& pattern, Access access, std::int32_t const* words,
                 std::span<float const> values, std::span<float> results, long long* cycles,
                 cuda::Stream const& stream);

/// Each thread of a cluster of `blocks` blocks reads words of its own block (`remote` false) or of
/// the next one's shared memory; `cycles` as above.
void distributed_cycles(int blocks, bool remote, std::span<float const> values,
                        std::span<float> results, long long* cycles, cuda::Stream const& stream);

/// Why there are no clusters of so many blocks; empty if there are.
std::string_view refuses_cluster(int blocks);

} // namespace dense::gpu
