// Cheat: computes only sums of rows, which a check by a vector that is known would find right.
// Scores: zero: expected
#include "multiply.hpp"
#define multiply honest
#include "naive.cpp"
#undef multiply

#include <algorithm>
#include <vector>

void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    std::vector<double> sums(static_cast<std::size_t>(k));
    for (std::int32_t p = 0; p < k; ++p) {
        for (std::int32_t j = 0; j < n; ++j) {
            sums[p] += b[p * n + j];
        }
    }
    std::fill(c.begin(), c.end(), 0.0);
    for (std::int32_t i = 0; i < m; ++i) {
        for (std::int32_t p = 0; p < k; ++p) {
            c[i * n + n - 1] += a[i * k + p] * sums[p];
        }
    }
}
