// Rows handed out by an atomic counter of its own.
#include "spmv.hpp"

#include <algorithm>
#include <atomic>

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
    constexpr std::int32_t rows = 500;
    std::atomic<std::int32_t> next{0};
#pragma omp parallel
    for (auto begin = next.fetch_add(rows); begin < a.rows; begin = next.fetch_add(rows)) {
        for (auto i = begin; i < std::min(begin + rows, a.rows); ++i) {
            multiply(a, i, x, y);
        }
    }
}
