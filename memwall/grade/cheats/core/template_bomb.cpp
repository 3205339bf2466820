// Cheat: keeps the compiler busy for ever.
// Scores: zero: does not compile
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

template <int depth, int path = 0>
struct Bomb
{
    static constexpr int value =
        Bomb<depth - 1, 2 * path>::value + Bomb<depth - 1, 2 * path + 1>::value;
};
template <int path>
struct Bomb<20, path>
{
    static constexpr int value = 1;
};

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest(a, x, y);
    y[0] += Bomb<40>::value * 0;
}
