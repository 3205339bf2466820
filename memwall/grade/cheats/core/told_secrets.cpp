// Cheat: has the judge tell in its complaints what a hidden case is like.
// Scores: zero: expected
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    y[0] = 1e6 * a.rows + a.columns;
}
