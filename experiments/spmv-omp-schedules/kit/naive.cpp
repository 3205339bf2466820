#include "spmv.hpp"

/// One vector after the other; rows are handed out one by one to whichever thread is free.
void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t v = 0; v < vectors; ++v) {
#pragma omp parallel for schedule(dynamic)
        for (std::int32_t i = 0; i < a.rows; ++i) {
            double sum = 0;
            for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                sum += a.values[p] * x[vectors * a.col[p] + v];
            }
            y[vectors * i + v] = sum;
        }
    }
}
