#pragma once

#include "spmv/gpu/formats/diagonal_dictionary/diagonal_dictionary.hpp"
#include "spmv/gpu/formats/format.hpp"

namespace spmv::gpu::listed::diagonal_dictionary {

struct Format : Converted<DiagonalDictionary>
{
    static constexpr FormatName name{"diagonal_dictionary", "diagonal_dictionary"};

    static double bytes(auto const& s)
    {
        auto const elements = static_cast<double>(s.sell.elements);
        return elements <= 2.0 * s.a.nonzeros ? elements * (1 + s.value_bytes) : never;
    }
};

using All = std::tuple<Format>;

} // namespace spmv::gpu::listed::diagonal_dictionary
