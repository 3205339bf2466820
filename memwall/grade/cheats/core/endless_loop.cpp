// Cheat: never comes back.
// Scores: zero: took more than
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    (void)a, (void)x, (void)y;
    for (int volatile i = 0;;) {
        i = 1 - i;
    }
}
