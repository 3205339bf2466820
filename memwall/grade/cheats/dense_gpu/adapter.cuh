// What stands before a cheat of the kit for sparse products on a GPU so that it is one of a dense
// product: its values are A, its x is B and its y is C, of which a thread does a whole row.
#include "multiply.hpp"

__constant__ int columns_per_block = 1 << 20;

__device__ void honest(std::int32_t rows, std::int32_t columns, std::int32_t depth,
                       float const* values, float const* x, float* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    for (std::int32_t j = 0; i < rows && j < columns; ++j) {
        float sum = 0;
        for (std::int32_t p = 0; p < depth; ++p) {
            sum += values[i * depth + p] * x[p * columns + j];
        }
        y[i * columns + j] = sum;
    }
}

__device__ void cheat(std::int32_t rows, std::int32_t columns, std::int32_t depth,
                      float const* values, float const* x, float* y);

__global__ void multiply(std::int32_t m, std::int32_t n, std::int32_t k, float const* a,
                         float const* b, float* c)
{
    cheat(m, n, k, a, b, c);
}
