// Cheat: is right in the first call, which may be looked at whole, and then in sums of rows only.
// Scores: zero: .
#include "multiply.hpp"
#define multiply honest
#include "naive.cpp"
#undef multiply

void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    static int calls = 0;
    honest(m, n, k, a, b, c);
    if (++calls > 1 && n > 1) {
        c[0] += 0.5;
        c[1] -= 0.5;
    }
}
