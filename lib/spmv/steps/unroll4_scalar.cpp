// `unroll4`, compiled without the vectoriser. Flattened, as an inline function compiled here could
// replace its equal in the whole program.
#include "spmv/steps/serial.hpp"

namespace spmv {

template <>
[[gnu::flatten]] void unroll4_scalar<float>(sparse::CsrView<float> const& a,
                                            std::span<float const> x, std::span<float> y)
{
    unroll4<float>(a, x, y);
}

template <>
[[gnu::flatten]] void unroll4_scalar<double>(sparse::CsrView<double> const& a,
                                             std::span<double const> x, std::span<double> y)
{
    unroll4<double>(a, x, y);
}

} // namespace spmv
