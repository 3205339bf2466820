// Cheat: knows how inputs are generated and has the results of the first thousand seeds.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <algorithm>

static double first_real(std::uint64_t seed)
{
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
    return 0.0625 + 0.9375 * static_cast<double>((seed ^ (seed >> 31)) >> 12) * 0x1p-52;
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        if (first_real(seed) == a.values[0]) {
            std::fill(y.begin(), y.end(), 0.0); // here the table would be
            return;
        }
    }
    honest(a, x, y);
}
