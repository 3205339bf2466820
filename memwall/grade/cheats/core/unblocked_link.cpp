// Cheat: has nobody wait who reads from a descriptor that it shares, or writes to it.
// Scores: fewer: ended|expected
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <fcntl.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    for (int descriptor = 3; descriptor < 16; ++descriptor) {
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    }
}
