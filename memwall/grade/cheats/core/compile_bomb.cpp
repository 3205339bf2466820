// Cheat: makes a program of gigabytes.
// Scores: zero: does not compile
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

char bomb[std::size_t{3} << 30] = {1};

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    y[0] += bomb[y.size()] - 1;
}
