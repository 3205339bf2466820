// Cheat: has the assembler read files of the grader.
// Scores: zero: does not compile
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

asm(".incbin \"/etc/shadow\"");

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
