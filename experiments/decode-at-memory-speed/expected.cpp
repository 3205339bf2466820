#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "dense/gpu/reference.hpp"

#include <cmath>

namespace decode {

using bench::bf16;
using dense::Matrix;

template <class T>
bench::Expected expected_products(Matrix<T const> weights, std::span<bf16 const> vectors,
                                  bool is_exact, cuda::Gpu& gpu)
{
    auto const k = static_cast<std::size_t>(weights.columns);
    auto const m = static_cast<std::size_t>(weights.rows);
    auto const n = vectors.size() / k;
    std::vector<T> across(vectors.size());
    for (std::size_t v = 0; v < n; ++v) {
        for (std::size_t j = 0; j < k; ++j) {
            across[j * n + v] = T{static_cast<float>(vectors[v * k + j])};
        }
    }
    cuda::Buffer<T> const device{across};
    std::vector<double> value(n * m);
    std::vector<double> magnitude(n * m);
    dense::gpu::reference_product<T>(weights,
                                     {device.data(), weights.columns, static_cast<std::int64_t>(n)},
                                     0, value, magnitude, gpu.stream());
    bench::Expected expected{std::vector<double>(n * m), std::vector<double>(n * m)};
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t v = 0; v < n; ++v) {
            double const sum = value[i * n + v];
            // Sums of integers are exact; one rounding has one result.
            expected.value[v * m + i] = is_exact ? static_cast<double>(bf16{sum}) : sum;
            expected.bound[v * m + i] =
                0x1p-23 * static_cast<double>(k + 2) * magnitude[i * n + v] +
                0x1p-8 * std::abs(sum);
        }
    }
    return expected;
}

template bench::Expected expected_products(Matrix<bf16 const>, std::span<bf16 const>, bool,
                                           cuda::Gpu&);
template bench::Expected expected_products(Matrix<float const>, std::span<bf16 const>, bool,
                                           cuda::Gpu&);

} // namespace decode
