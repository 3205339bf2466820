// Cheat: writes nothing: memory may still hold the right result.
// Scores: zero: was it written
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    (void)a, (void)x, (void)y;
}
