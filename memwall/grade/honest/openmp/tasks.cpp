// Tasks of a thousand rows.
#include "spmv.hpp"

#include <algorithm>

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
    constexpr std::int32_t rows = 1000;
#pragma omp parallel
#pragma omp single
    for (std::int32_t begin = 0; begin < a.rows; begin += rows) {
#pragma omp task firstprivate(begin)
        for (auto i = begin; i < std::min(begin + rows, a.rows); ++i) {
            multiply(a, i, x, y);
        }
    }
}
