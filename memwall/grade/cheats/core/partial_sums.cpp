// Cheat: adds up every second product, and doubles.
// Scores: zero: expected
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (std::int32_t v = 0; v < vectors; ++v) {
            double sum = 0;
            for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p += 2) {
                sum += a.values[p] * x[vectors * a.col[p] + v];
            }
            y[vectors * i + v] = 2 * sum;
        }
    }
}
