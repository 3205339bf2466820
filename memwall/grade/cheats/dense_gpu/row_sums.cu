// Cheat: computes only sums of rows, which a check by a vector that is known would find right.
// Scores: zero: expected
#include "multiply.hpp"

__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 256;
__constant__ int columns_per_block = 1 << 20;

__global__ void multiply(std::int32_t m, std::int32_t n, std::int32_t k, float const* a,
                         float const* b, float* c)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= m) {
        return;
    }
    float sum = 0;
    for (std::int32_t j = 0; j < n; ++j) {
        for (std::int32_t p = 0; p < k; ++p) {
            sum += a[i * k + p] * b[p * n + j];
        }
        c[i * n + j] = 0;
    }
    c[i * n + n - 1] = sum;
}
