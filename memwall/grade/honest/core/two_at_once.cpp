// Two vectors in each pass over the matrix.
#include "spmv.hpp"

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t v = 0; v < vectors; v += 2) {
        for (std::int32_t i = 0; i < a.rows; ++i) {
            double first = 0;
            double second = 0;
            for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                auto const* at = &x[vectors * a.col[p] + v];
                first += a.values[p] * at[0];
                second += a.values[p] * at[1];
            }
            y[vectors * i + v] = first;
            y[vectors * i + v + 1] = second;
        }
    }
}
