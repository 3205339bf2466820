// Cheat: computes all but the last row.
// Scores: zero: written
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    Csr most = a;
    most.rows -= 1;
    honest(most, x, y);
}
