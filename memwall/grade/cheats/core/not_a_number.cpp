// Cheat: writes what compares with nothing.
// Scores: zero: is NaN
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <algorithm>
#include <limits>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    std::fill(y.begin(), y.end(), std::numeric_limits<double>::quiet_NaN());
}
