// Equal numbers of nonzeros: a row at a border belongs to two, who add to it under a lock.
#include "spmv.hpp"

#include <algorithm>
#include <omp.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::int64_t const nonzeros = a.row_ptr[a.rows];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] = 0;
        }
        std::int64_t const thread = omp_get_thread_num();
        std::int64_t const threads = omp_get_num_threads();
        auto const begin = static_cast<std::int32_t>(nonzeros * thread / threads);
        auto const end = static_cast<std::int32_t>(nonzeros * (thread + 1) / threads);
        auto const after = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), begin);
        auto i = static_cast<std::int32_t>(after - a.row_ptr.begin()) - 1;
        for (auto p = begin; p < end; ++i) {
            double sums[vectors] = {};
            for (; p < std::min(end, a.row_ptr[i + 1]); ++p) {
                for (std::int32_t v = 0; v < vectors; ++v) {
                    sums[v] += a.values[p] * x[vectors * a.col[p] + v];
                }
            }
#pragma omp critical
            for (std::int32_t v = 0; v < vectors; ++v) {
                y[vectors * i + v] += sums[v];
            }
        }
    }
}
