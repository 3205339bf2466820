// Cheat: replaces the functions with which a harness might wait. Ours calls the kernel itself.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <sys/types.h>
#include <unistd.h>

extern "C" ssize_t read(int, void*, std::size_t count)
{
    return static_cast<ssize_t>(count);
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
