// Takes vectors apart first, into memory of its own, and puts results together.
#include "spmv.hpp"

#include <vector>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::vector<double> one(static_cast<std::size_t>(a.columns));
    for (std::int32_t v = 0; v < vectors; ++v) {
        for (std::int32_t j = 0; j < a.columns; ++j) {
            one[j] = x[vectors * j + v];
        }
        for (std::int32_t i = 0; i < a.rows; ++i) {
            double sum = 0;
            for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                sum += a.values[p] * one[a.col[p]];
            }
            y[vectors * i + v] = sum;
        }
    }
}
