#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/gemm_half.hpp"
#include "dense/gpu/testing/handover.hpp"

#include <doctest/doctest.h>

#include <vector>

// What racecheck makes of stages that a lane gives back for its whole warp, as kernels here do:
// .ci/gpu-tests says which of its reports are wrong. Here they are all that is reported of a right
// pipeline, and both races that another one can have are found all the same.

namespace {

using dense::gpu::testing::add_handed_over;
using dense::gpu::testing::handed_over_at_once;
using dense::gpu::testing::Lacks;

constexpr int stages = 40;

/// Sums of stages that count up from 1. Of one with a race nothing is expected.
std::vector<float> handed_over(Lacks lacks)
{
    std::vector<float> from;
    for (int stage = 1; stage <= stages; ++stage) {
        from.insert(from.end(), handed_over_at_once, static_cast<float>(stage));
    }
    cuda::Stream const stream;
    cuda::Buffer<float> const numbers{from};
    cuda::Buffer<float> sums{std::vector<float>(handed_over_at_once)};
    add_handed_over(lacks, numbers.span(), sums.span(), stream);
    stream.synchronize();
    return sums.download();
}

} // namespace

TEST_CASE("stages that a lane gives back for its whole warp")
{
    if (!dense::gpu::has_wgmma()) {
        return; // barriers of this kind are of the same GPUs
    }
    CHECK(handed_over(Lacks::nothing) ==
          std::vector<float>(handed_over_at_once, stages * (stages + 1) / 2));
}

TEST_CASE("planted race: a stage is read while it is written")
{
    if (!dense::gpu::has_wgmma()) {
        MESSAGE("skipped: this GPU is no Hopper");
        return;
    }
    CHECK_NOTHROW(handed_over(Lacks::wait_until_full));
}

TEST_CASE("planted race: a stage is written while it is read")
{
    if (!dense::gpu::has_wgmma()) {
        MESSAGE("skipped: this GPU is no Hopper");
        return;
    }
    CHECK_NOTHROW(handed_over(Lacks::wait_until_empty));
}
