#include "spmv.hpp"

/// Rows are handed out one by one to whichever thread is free.
void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
#pragma omp parallel for schedule(dynamic)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sum = 0;
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            sum += a.values[p] * x[a.col[p]];
        }
        y[i] = sum;
    }
}
