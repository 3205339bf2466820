// Cheat: tells in its exit code what a hidden case is like.
// Scores: zero: it ended
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <cstdlib>

void spmv(Csr const& a, std::span<double const>, std::span<double>)
{
    std::_Exit(a.rows % 128);
}
