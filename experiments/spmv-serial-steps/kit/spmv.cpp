#include "spmv.hpp"

/// BEGIN SOLUTION
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

/// Y = A X on one core. naive.cpp shows the loop of the textbook.
void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    /// BEGIN SOLUTION
    auto const* const from = reinterpret_cast<Four const*>(x.data());
    auto* const to = reinterpret_cast<Four*>(y.data());
    auto last = a.rows; // behind it nothing is left to ask for
    while (last > 0 && a.row_ptr[last] > a.row_ptr[a.rows] - ahead) {
        --last;
    }
    multiply<true>(a, 0, last, from, to);
    multiply<false>(a, last, a.rows, from, to);
    /// END SOLUTION
}
