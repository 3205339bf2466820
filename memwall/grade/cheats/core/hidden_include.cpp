// Cheat: includes what students have not got.
// Scores: zero: does not compile
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include "../home/model.cpp"

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
