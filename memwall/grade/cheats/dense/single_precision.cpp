// Cheat: multiplies in single precision, which moves half as much.
// Scores: zero: expected
#include "multiply.hpp"

#include <vector>

void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    std::vector<float> const small_a(a.begin(), a.end());
    std::vector<float> const small_b(b.begin(), b.end());
    for (std::int32_t i = 0; i < m; ++i) {
        for (std::int32_t j = 0; j < n; ++j) {
            float sum = 0;
            for (std::int32_t p = 0; p < k; ++p) {
                sum += small_a[i * k + p] * small_b[p * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}
