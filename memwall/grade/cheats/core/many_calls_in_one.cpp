// Cheat: does the work of two calls in the second.
// Scores: zero: expected
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    static int calls = 0;
    if (++calls % 2 == 0) {
        honest(a, x, y);
    }
}
