// Cheat: knows the public structures, and is right for them only.
// Scores: fewer: expected|written
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    if (a.row_ptr[a.rows] > 15 * a.rows) { // the stencil
        honest(a, x, y);
    }
}
