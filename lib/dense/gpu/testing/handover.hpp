#pragma once

#include "cuda/stream.hpp"

#include <span>

/// \file
/// A pipeline that is nothing but its barriers, to try what a sanitizer makes of them.

namespace dense::gpu::testing {

constexpr int handed_over_at_once = 128; ///< floats of a stage

/// What a pipeline leaves out the last time, so that it has a race.
enum class Lacks
{
    nothing,
    wait_until_full, ///< a stage is read while it is written
    wait_until_empty ///< a stage is written while it is read
};

/// Adds up the stages of `from`, whole ones: `to[i]` gets the sum of all elements that stand where
/// `i` does in their stages. Some threads copy to shared memory, others read from there, and one of
/// each warp says for all of it that a stage was read: as `shaped_tiles` and `wgmma_tf32` do it.
void add_handed_over(Lacks lacks, std::span<float const> from, std::span<float> to,
                     cuda::Stream const& stream);

} // namespace dense::gpu::testing
