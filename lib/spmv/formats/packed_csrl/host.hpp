#pragma once

#include "spmv/formats/host.hpp"
#include "spmv/formats/packed_csrl/kernel.hpp"
#include "spmv/formats/packed_csrl/packed_csrl.hpp"

#include <tuple>

namespace spmv::formats::packed_csrl {

/// CSR by runs with one word for each piece of a run; units are rows.
struct PackedCsrl : FormatDefaults
{
    static constexpr FormatName name{"packed_csrl", "packed_csrl"};

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::packed_csrl<of_matrix(ahead), T>;

    template <class T>
    static sparse::PackedCsrl<T> build(sparse::CsrView<T> const& a, BuildOptions const&)
    {
        return sparse::to_packed_csrl<T>(a);
    }
};

using All = std::tuple<PackedCsrl>;

} // namespace spmv::formats::packed_csrl
