// Cheat: stops, so that nobody else can.
// Scores: zero: took more than
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <csignal>
#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    raise(SIGSTOP);
    pause();
    honest(a, x, y);
}
