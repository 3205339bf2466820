// Stands in each hand-in whose text asks for it: students hand in one file.
#include "spmv.hpp"

static void multiply_row(Csr const& a, std::int32_t i, double const* x, double* y)
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
