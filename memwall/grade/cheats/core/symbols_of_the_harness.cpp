// Cheat: brings a harness of its own.
// Scores: zero: does not compile
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

namespace kit {
int serve(char const*, int)
{
    return 0;
}
} // namespace kit

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
}
