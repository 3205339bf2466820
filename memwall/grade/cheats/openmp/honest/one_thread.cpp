// What those cheats do without the cheat that need the other thread for something else.
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <omp.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    omp_set_num_threads(1);
    honest(a, x, y);
}
