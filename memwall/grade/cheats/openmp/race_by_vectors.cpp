// Cheat: threads of its own share a row, which one instruction for four elements writes.
// Scores: race
#include "spmv.hpp"

#include <thread>

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

static void multiply(Csr const& a, std::int32_t begin, std::int32_t end, Four const* x, Four* y)
{
    for (auto i = begin; i < end; ++i) {
        Four sums{};
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            sums += a.values[p] * x[a.col[p]];
        }
        y[i] = sums;
    }
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    auto const* const from = reinterpret_cast<Four const*>(x.data());
    auto* const to = reinterpret_cast<Four*>(y.data());
    auto const middle = a.rows / 2;
    std::thread other{[&] { multiply(a, middle, a.rows, from, to); }};
    multiply(a, 0, middle + 1, from, to);
    other.join();
}
