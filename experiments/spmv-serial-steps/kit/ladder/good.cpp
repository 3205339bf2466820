#include "spmv.hpp"

#include <algorithm>

/// A good student's: beside the first idea, x is asked for before it is needed.
void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    auto const last = static_cast<std::int32_t>(a.col.size()) - 1;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sums[vectors] = {};
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            __builtin_prefetch(x.data() + vectors * a.col[std::min(p + 32, last)]);
            for (std::int32_t v = 0; v < vectors; ++v) {
                sums[v] += a.values[p] * x[vectors * a.col[p] + v];
            }
        }
        for (std::int32_t v = 0; v < vectors; ++v) {
            y[vectors * i + v] = sums[v];
        }
    }
}
