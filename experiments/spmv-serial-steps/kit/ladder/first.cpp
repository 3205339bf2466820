#include "spmv.hpp"

/// A first good idea: the matrix is read once, and each of its nonzeros serves all vectors.
void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sums[vectors] = {};
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            for (std::int32_t v = 0; v < vectors; ++v) {
                sums[v] += a.values[p] * x[vectors * a.col[p] + v];
            }
        }
        for (std::int32_t v = 0; v < vectors; ++v) {
            y[vectors * i + v] = sums[v];
        }
    }
}
