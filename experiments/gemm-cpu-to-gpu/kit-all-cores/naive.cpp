#include "multiply.hpp"

/// The three loops of the textbook; rows of C are dealt to the threads.
void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
#pragma omp parallel for
    for (std::int32_t i = 0; i < m; ++i) {
        for (std::int32_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int32_t p = 0; p < k; ++p) {
                sum += a[i * k + p] * b[p * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}
