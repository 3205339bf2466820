#include "multiply.hpp"

__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 16;
__constant__ int columns_per_block = 16;

/// One thread for each element of C.
__global__ void multiply(std::int32_t m, std::int32_t n, std::int32_t k, float const* a,
                         float const* b, float* c)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * 16 + threadIdx.x / 16);
    auto const j = static_cast<std::int32_t>(blockIdx.y * 16 + threadIdx.x % 16);
    if (i >= m || j >= n) {
        return;
    }
    float sum = 0;
    for (std::int32_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * b[p * n + j];
    }
    c[i * n + j] = sum;
}
