#pragma once

#include "host_array.hpp"

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

/// What the studies of this experiment have in common.
namespace transfer_modes {

using bench::Trial;
using bench::Variant;

/// What all copies of a trial share: `x` is the origin, on the host or on the device.
struct Problem
{
    Trial& trial;
    cuda::Gpu& gpu;
    std::size_t count;
    bench::Input<float> x;

    Problem(Trial& t, cuda::Gpu& g, std::size_t bytes)
        : trial{t}, gpu{g}, count{bytes / sizeof(float)}, x{t.input<float>(count)}
    {
    }

    /// The values themselves, exactly.
    void expect(bench::Output<float> const& y) const;

    /// An array of a mode that holds x, or as much of its begin, also when that changes.
    HostArray filled(Variant& variant, HostArray const& array) const;
};

/// Sizes in bytes, multiples of 16.
bench::AxisValues sizes(std::vector<std::int64_t> const& tiny,
                        std::vector<std::int64_t> const& quick,
                        std::vector<std::int64_t> const& full);

/// One size in each profile.
bench::AxisValues mebibytes(std::int64_t tiny, std::int64_t quick, std::int64_t full);

} // namespace transfer_modes
