// Vector instructions, four sums, and elements of x asked for early.
#include "spmv.hpp"

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    auto const* from = reinterpret_cast<Four const*>(x.data());
    auto* to = reinterpret_cast<Four*>(y.data());
    auto const nonzeros = a.rows == 0 ? 0 : a.row_ptr[a.rows];
    for (std::int32_t i = 0; i < a.rows; ++i) {
        Four sums[2] = {};
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            __builtin_prefetch(from + a.col[p + 32 < nonzeros ? p + 32 : p]);
            sums[p % 2] += a.values[p] * from[a.col[p]];
        }
        to[i] = sums[0] + sums[1];
    }
}
