// All vectors at once, sums in an array.
#include "spmv.hpp"

#include <array>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::array<double, vectors> sums{};
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            for (std::int32_t v = 0; v < vectors; ++v) {
                sums[v] += a.values[p] * x[vectors * a.col[p] + v];
            }
        }
        for (std::int32_t v = 0; v < vectors; ++v) {
            y[vectors * i + v] = sums[v];
        }
    }
}
