// Cheat: is slow at first, so that there are fewer calls.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    static int calls = 0;
    if (++calls == 1) {
        usleep(500'000);
    }
    honest(a, x, y);
}
