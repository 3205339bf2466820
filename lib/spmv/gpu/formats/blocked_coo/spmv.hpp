#pragma once

#include "spmv/gpu/formats/blocked_coo/blocked_coo.hpp"
#include "spmv/gpu/formats/format.hpp"

namespace spmv::gpu::listed::blocked_coo {

struct Format : Converted<BlockedCoo>
{
    static constexpr FormatName name{"blocked_coo", "gpu_blocked_coo"};

    static double bytes(auto const& s) { return s.a.nonzeros * (4.0 + s.value_bytes); }
};

using All = std::tuple<Format>;

} // namespace spmv::gpu::listed::blocked_coo
