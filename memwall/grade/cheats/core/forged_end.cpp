// Cheat: says that it is done and computes then.
// Scores: zero: .
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <unistd.h>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    std::uint64_t const one = 1;
    for (int descriptor = 3; descriptor < 32; ++descriptor) {
        if (write(descriptor, &one, sizeof one) == sizeof one) {
            usleep(20'000);
        }
    }
    honest(a, x, y);
}
