// Cheat: adds up in single precision.
// Scores: zero: expected
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        float sums[vectors] = {};
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            for (std::int32_t v = 0; v < vectors; ++v) {
                sums[v] += static_cast<float>(a.values[p] * x[vectors * a.col[p] + v]);
            }
        }
        for (std::int32_t v = 0; v < vectors; ++v) {
            y[vectors * i + v] = sums[v];
        }
    }
}
