// Cheat: every thread computes every row, and all write the same.
// Scores: race
#include "spmv.hpp"

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
#pragma omp parallel
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (std::int32_t v = 0; v < vectors; ++v) {
            double sum = 0;
            for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                sum += a.values[p] * x[vectors * a.col[p] + v];
            }
            y[vectors * i + v] = sum;
        }
    }
}
