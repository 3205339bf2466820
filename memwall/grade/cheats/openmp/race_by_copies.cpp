// Cheat: threads share a row at their border, which a copy that the compiler makes a call writes.
// Scores: race
#include "spmv.hpp"

#include <algorithm>
#include <array>
#include <omp.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
#pragma omp parallel
    {
        std::int32_t const thread = omp_get_thread_num();
        std::int32_t const threads = omp_get_num_threads();
        auto const begin = static_cast<std::int32_t>(std::int64_t{a.rows} * thread / threads);
        auto const end = static_cast<std::int32_t>(std::int64_t{a.rows} * (thread + 1) / threads);
        for (auto i = begin; i < std::min(end + 1, a.rows); ++i) {
            std::array<double, vectors> sums{};
            for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                for (std::int32_t v = 0; v < vectors; ++v) {
                    sums[v] += a.values[p] * x[vectors * a.col[p] + v];
                }
            }
            std::copy(sums.begin(), sums.end(), y.begin() + vectors * i);
        }
    }
}
