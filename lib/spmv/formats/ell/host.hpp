#pragma once

#include "spmv/formats/ell/ell.hpp"
#include "spmv/formats/ell/kernel.hpp"
#include "spmv/formats/host.hpp"

#include <tuple>

namespace spmv::formats::ell {

/// ELLPACK; units are rows.
struct Ell : FormatDefaults
{
    static constexpr FormatName name{"ell", "ell"};

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::ell_without_fill<of_matrix(ahead), T>;

    template <class T>
    static sparse::Ell<T> build(sparse::CsrView<T> const& a, BuildOptions const&)
    {
        return sparse::to_ell<T>(a);
    }
};

using All = std::tuple<Ell>;

} // namespace spmv::formats::ell
