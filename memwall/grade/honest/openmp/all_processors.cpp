// As many threads as there are processors, by its own count.
#include "spmv.hpp"

#include <omp.h>

static void multiply(Csr const& a, std::int32_t i, std::span<double const> x, std::span<double> y)
{
    double sums[vectors] = {};
    for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
        for (std::int32_t v = 0; v < vectors; ++v) {
            sums[v] += a.values[p] * x[vectors * a.col[p] + v];
        }
    }
    for (std::int32_t v = 0; v < vectors; ++v) {
        y[vectors * i + v] = sums[v];
    }
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
#pragma omp parallel for schedule(guided) num_threads(omp_get_num_procs())
    for (std::int32_t i = 0; i < a.rows; ++i) {
        multiply(a, i, x, y);
    }
}
