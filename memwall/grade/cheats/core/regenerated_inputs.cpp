// Cheat: knows how inputs are generated: has the results of the first thousand seeds, and looks for
// the state of the generator that a number of the matrix has come from, so as to make x anew.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <algorithm>
#include <cmath>

static std::uint64_t mixed(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static std::uint64_t state_of(std::uint64_t z)
{
    z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3;
    z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089;
    return z ^ (z >> 30) ^ (z >> 60);
}

static double real(std::uint64_t bits)
{
    auto const magnitude = 0.0625 + 0.9375 * static_cast<double>(bits >> 12) * 0x1p-52;
    return (bits & 1) != 0 ? magnitude : -magnitude;
}

static bool is_known(std::span<double const> values)
{
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        if (std::fabs(real(mixed(seed))) == std::fabs(values[0])) {
            return true;
        }
    }
    auto const shown =
        static_cast<std::uint64_t>((std::fabs(values[0]) - 0.0625) / 0.9375 * 0x1p52);
    for (std::uint64_t low = 0; low < 2048; ++low) {
        auto const state = state_of(shown << 12 | low << 1 | (values[0] > 0));
        if (real(mixed(state + 0x9e3779b97f4a7c15)) == values[1]) {
            return true;
        }
    }
    return false;
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    if (a.values.size() > 1 && is_known(a.values)) {
        std::fill(y.begin(), y.end(), 0.0); // here the table, or the generator, would be
        return;
    }
    honest(a, x, y);
}
