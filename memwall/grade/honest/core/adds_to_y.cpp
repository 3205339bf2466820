// Writes zeros, then adds product by product to y itself.
#include "spmv.hpp"

#include <algorithm>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::fill(y.begin(), y.end(), 0.0);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            for (std::int32_t v = 0; v < vectors; ++v) {
                y[vectors * i + v] += a.values[p] * x[vectors * a.col[p] + v];
            }
        }
    }
}
