// Cheat: takes the link away through which the judge asks.
// Scores: zero: took more than|link
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <sys/socket.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    for (int descriptor = 3; descriptor < 16; ++descriptor) {
        shutdown(descriptor, SHUT_RD);
    }
    for (bool volatile waits = true; waits;) {
    }
}
