// Rows handed out by an atomic counter of its own.
#include "row.hpp"
#include "spmv.hpp"

#include <algorithm>
#include <atomic>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    constexpr std::int32_t rows = 500;
    std::atomic<std::int32_t> next{0};
#pragma omp parallel
    for (auto begin = next.fetch_add(rows); begin < a.rows; begin = next.fetch_add(rows)) {
        for (auto i = begin; i < std::min(begin + rows, a.rows); ++i) {
            multiply_row(a, i, x.data(), y.data());
        }
    }
}
