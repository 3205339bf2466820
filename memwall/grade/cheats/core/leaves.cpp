// Cheat: ends the process, as if all went well.
// Scores: zero: exit code 0
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <cstdlib>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    std::_Exit(0);
}
