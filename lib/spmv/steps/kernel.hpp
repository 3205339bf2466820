#pragma once

#include "sparse/csr.hpp"

#include <span>
#include <string_view>

namespace spmv {

/// One entry of a table of kernels: a variant that this machine may be unable to run.
template <class T>
struct Kernel
{
    /// Computes `y = A x` for `x` of `columns` and `y` of `rows` elements.
    using Function = void(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y);

    std::string_view name;    ///< of the variant
    Function* function;       ///< null if it is not available
    std::string_view missing; ///< why it cannot run here; empty if it can

    /// Whether it may be called.
    bool available() const { return missing.empty(); }

    /// Calls an available kernel.
    void operator()(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y) const
    {
        function(a, x, y);
    }
};

} // namespace spmv
