// Cheat: knows the public shapes, and is right for them only.
// Scores: fewer: expected|written
#include "multiply.hpp"
#define multiply honest
#include "naive.cpp"
#undef multiply

void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    if (m < n) { // the public one
        honest(m, n, k, a, b, c);
    }
}
