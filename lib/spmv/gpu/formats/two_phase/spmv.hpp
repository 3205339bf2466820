#pragma once

#include "spmv/gpu/formats/format.hpp"
#include "spmv/gpu/formats/two_phase/two_phase.hpp"

namespace spmv::gpu::listed::two_phase {

struct Format : Converted<TwoPhase>
{
    static constexpr FormatName name{"two_phase", "gpu_two_phase"};

    static double bytes(auto const& s) { return s.a.nonzeros * (4.0 + 2 * s.value_bytes); }
};

using All = std::tuple<Format>;

} // namespace spmv::gpu::listed::two_phase
