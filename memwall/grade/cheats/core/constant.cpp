// Cheat: gives what was right once.
// Scores: zero: expected
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <vector>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    static std::vector<double> once;
    if (once.empty()) {
        honest(a, x, y);
        once.assign(y.begin(), y.end());
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = once[i % once.size()];
    }
}
