// A second thread that it starts itself.
#include "spmv.hpp"

#include <thread>

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
    auto const middle = a.rows / 2;
    std::thread other{[&] {
        for (auto i = middle; i < a.rows; ++i) {
            multiply(a, i, x, y);
        }
    }};
    for (std::int32_t i = 0; i < middle; ++i) {
        multiply(a, i, x, y);
    }
    other.join();
}
