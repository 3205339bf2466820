#include "spmv.hpp"

/// BEGIN SOLUTION
#include <algorithm>
#include <omp.h>
/// END SOLUTION

/// y = A x on all threads of OpenMP. naive.cpp shows the loop of the textbook.
void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    /// BEGIN SOLUTION
    // Each thread gets one range of rows with as many nonzeros, and rows, as the others have: it is
    // found by bisection, which costs nothing beside the product.
    auto const first_row = [&](std::int64_t part, std::int64_t parts) {
        auto const work = [&](std::int64_t row) { return std::int64_t{a.row_ptr[row]} + row; };
        std::int64_t const target = work(a.rows) * part / parts;
        std::int64_t low = 0;
        std::int64_t high = a.rows;
        while (low < high) {
            auto const middle = (low + high) / 2;
            (work(middle) < target ? low : high) = work(middle) < target ? middle + 1 : middle;
        }
        return static_cast<std::int32_t>(low);
    };
#pragma omp parallel
    {
        auto const thread = omp_get_thread_num();
        auto const threads = omp_get_num_threads();
        auto const end = first_row(thread + 1, threads);
        for (std::int32_t i = first_row(thread, threads); i < end; ++i) {
            double sums[2] = {};
            std::int32_t p = a.row_ptr[i];
            for (; p + 1 < a.row_ptr[i + 1]; p += 2) {
                sums[0] += a.values[p] * x[a.col[p]];
                sums[1] += a.values[p + 1] * x[a.col[p + 1]];
            }
            if (p < a.row_ptr[i + 1]) {
                sums[0] += a.values[p] * x[a.col[p]];
            }
            y[i] = sums[0] + sums[1];
        }
    }
    /// END SOLUTION
}
