#pragma once

#include "spmv/gpu/formats/diagonals/diagonals.hpp"
#include "spmv/gpu/formats/format.hpp"

namespace spmv::gpu::listed::diagonals {

struct Format : Converted<Diagonals>
{
    static constexpr FormatName name{"diagonals", "gpu_diagonals"};

    static double bytes(auto const& s)
    {
        auto const elements = static_cast<double>(diagonal_elements(s.a, s.stream));
        return elements <= 2.0 * s.a.nonzeros ? elements * s.value_bytes : never;
    }
};

using All = std::tuple<Format>;

} // namespace spmv::gpu::listed::diagonals
