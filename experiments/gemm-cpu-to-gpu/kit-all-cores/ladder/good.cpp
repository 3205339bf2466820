#include "multiply.hpp"

namespace {

constexpr std::int32_t rows = 4;
constexpr std::int32_t columns = 8;

/// One vector instruction for four elements that lie beside each other.
using Vector = double __attribute__((vector_size(32), aligned(8), may_alias));

} // namespace

/// A good student's: a block of C stays in registers until it is done, so that each element that is
/// loaded serves several products. What is left at the edges is done as in the textbook.
void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    auto const edge = n / columns * columns;
#pragma omp parallel for
    for (std::int32_t i = 0; i < m; i += rows) {
        auto const full = m - i >= rows ? edge : 0;
        for (std::int32_t j = 0; j < full; j += columns) {
            Vector sums[rows][2] = {};
            for (std::int32_t p = 0; p < k; ++p) {
                auto const* const row = reinterpret_cast<Vector const*>(&b[p * n + j]);
                for (std::int32_t r = 0; r < rows; ++r) {
                    sums[r][0] += a[(i + r) * k + p] * row[0];
                    sums[r][1] += a[(i + r) * k + p] * row[1];
                }
            }
            for (std::int32_t r = 0; r < rows; ++r) {
                auto* const to = reinterpret_cast<Vector*>(&c[(i + r) * n + j]);
                to[0] = sums[r][0];
                to[1] = sums[r][1];
            }
        }
        for (std::int32_t r = i; r < m && r < i + rows; ++r) {
            for (std::int32_t j = full; j < n; ++j) {
                double sum = 0;
                for (std::int32_t p = 0; p < k; ++p) {
                    sum += a[r * k + p] * b[p * n + j];
                }
                c[r * n + j] = sum;
            }
        }
    }
}
