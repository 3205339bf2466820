#pragma once

#include "spmv/formats/csr/host.hpp"
#include "spmv/formats/delta_csr/delta_csr.hpp"
#include "spmv/formats/delta_csr/kernel.hpp"
#include "spmv/formats/host.hpp"

#include <tuple>

namespace spmv::formats::delta_csr {

/// CSR with 16-bit columns; units are rows.
struct DeltaCsr : FormatDefaults
{
    static constexpr FormatName name{"delta_csr", "delta_csr"};

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::delta_csr<of_matrix(ahead), T>;

    template <class T>
    static sparse::DeltaCsr<T> build(sparse::CsrView<T> const& a, BuildOptions const&)
    {
        return sparse::to_delta_csr<T>(a);
    }

    template <class T>
    static double bytes(sparse::CsrView<T> const& a, BuildOptions& options)
    {
        options.prefetch = options.prefetch && rows_gain_by_prefetch(a);
        return static_cast<double>(sparse::to_delta_csr<T>(a).bytes());
    }
};

using All = std::tuple<DeltaCsr>;

} // namespace spmv::formats::delta_csr
