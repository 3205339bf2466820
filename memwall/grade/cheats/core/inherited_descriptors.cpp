// Cheat: reads and writes whatever it was left.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    char secret[64];
    for (int descriptor = 6; descriptor < 1024; ++descriptor) {
        if (pread(descriptor, secret, sizeof secret, 0) > 0) {
            return; // something was left
        }
    }
    honest(a, x, y);
}
