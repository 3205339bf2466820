#include "spmv.hpp"

/// BEGIN SOLUTION
#include <omp.h>

namespace {

/// One vector instruction for the four elements that lie beside each other.
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

constexpr std::int32_t ahead = 64; ///< nonzeros: so long takes an element of x to come

/// Rows from `begin` to `end`. The matrix is read once for all vectors. Four sums, as each addition
/// waits for the one before; `x` is asked for before it is needed, where so many nonzeros follow.
template <bool ask>
void multiply(Csr const& a, std::int32_t begin, std::int32_t end, Four const* x, Four* y)
{
    auto const* const col = a.col.data();
    auto const* const values = a.values.data();
    for (std::int32_t i = begin; i < end; ++i) {
        Four sums[4] = {};
        std::int32_t p = a.row_ptr[i];
        std::int32_t const stop = a.row_ptr[i + 1];
        for (; stop - p >= 4; p += 4) {
            if constexpr (ask) {
                __builtin_prefetch(values + p +
                                   256); // processors ask for no new page by themselves
            }
            for (int k = 0; k < 4; ++k) {
                if constexpr (ask) {
                    __builtin_prefetch(x + col[p + k + ahead]);
                }
                sums[k] += values[p + k] * x[col[p + k]];
            }
        }
        for (; p < stop; ++p) {
            if constexpr (ask) {
                __builtin_prefetch(x + col[p + ahead]);
            }
            sums[0] += values[p] * x[col[p]];
        }
        y[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

} // namespace
/// END SOLUTION

/// Y = A X on all threads of OpenMP. naive.cpp shows the loop of the textbook.
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
    auto const nonzeros = a.row_ptr[a.rows];
    auto const* const from = reinterpret_cast<Four const*>(x.data());
    auto* const to = reinterpret_cast<Four*>(y.data());
#pragma omp parallel
    {
        auto const thread = omp_get_thread_num();
        auto const threads = omp_get_num_threads();
        auto const begin = first_row(thread, threads);
        auto const end = first_row(thread + 1, threads);
        auto last = end; // behind it nothing is left to ask for
        while (last > begin && a.row_ptr[last] > nonzeros - ahead) {
            --last;
        }
        multiply<true>(a, begin, last, from, to);
        multiply<false>(a, last, end, from, to);
    }
    /// END SOLUTION
}
