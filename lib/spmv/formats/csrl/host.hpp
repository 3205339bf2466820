#pragma once

#include "spmv/formats/csrl/csrl.hpp"
#include "spmv/formats/csrl/kernel.hpp"
#include "spmv/formats/host.hpp"

#include <tuple>

namespace spmv::formats::csrl {

/// CSR by runs; units are rows.
struct Csrl : FormatDefaults
{
    static constexpr FormatName name{"csrl", "csrl"};
    static constexpr bool keeps_rows = true;

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::csrl<of_matrix(ahead), T>;

    template <class T>
    static sparse::Csrl<T> build(sparse::CsrView<T> const& a, BuildOptions const&)
    {
        return sparse::to_csrl<T>(a);
    }
};

using All = std::tuple<Csrl>;

} // namespace spmv::formats::csrl
