// Tasks of a thousand rows.
#include "row.hpp"
#include "spmv.hpp"

#include <algorithm>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    constexpr std::int32_t rows = 1000;
#pragma omp parallel
#pragma omp single
    for (std::int32_t begin = 0; begin < a.rows; begin += rows) {
#pragma omp task firstprivate(begin)
        for (auto i = begin; i < std::min(begin + rows, a.rows); ++i) {
            multiply_row(a, i, x.data(), y.data());
        }
    }
}
