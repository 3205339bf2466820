// Cheat: makes its input 0, so that 0 is right.
// Scores: zero: outside its result
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <algorithm>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::fill_n(const_cast<double*>(x.data()), x.size(), 0.0);
    std::fill_n(const_cast<double*>(a.values.data()), a.values.size(), 0.0);
    std::fill(y.begin(), y.end(), 0.0);
}
