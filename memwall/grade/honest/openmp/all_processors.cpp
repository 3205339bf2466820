// As many threads as there are processors, by its own count.
#include "row.hpp"
#include "spmv.hpp"

#include <omp.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
#pragma omp parallel for schedule(guided) num_threads(omp_get_num_procs())
    for (std::int32_t i = 0; i < a.rows; ++i) {
        multiply_row(a, i, x.data(), y.data());
    }
}
