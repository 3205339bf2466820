// Cheat: forks at load a process that computes for it.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <unistd.h>

[[gnu::constructor]] static void start()
{
    if (fork() == 0) {
        for (;;) {
            pause();
        }
    }
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
