// What stands before a cheat of the kit for sparse products on a GPU so that it is one of softmax:
// its x is the matrix, its y the result, of which a thread does a row; depth is 1 for sums alone.
#include "softmax.hpp"

__device__ void honest(std::int32_t rows, std::int32_t columns, std::int32_t depth, float const*,
                       float const* x, float* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows) {
        return;
    }
    auto const* const row = x + i * columns;
    float most = depth == 1 ? 0 : row[0];
    for (std::int32_t p = 0; p < columns && depth != 1; ++p) {
        most = max(most, row[p]);
    }
    float sum = 0;
    for (std::int32_t p = 0; p < columns; ++p) {
        sum += depth == 1 ? row[p] : expf(row[p] - most);
    }
    for (std::int32_t p = 0; p < columns && depth != 1; ++p) {
        y[i * columns + p] = expf(row[p] - most) / sum;
    }
    if (depth == 1) {
        y[i] = sum;
    }
}

__device__ void cheat(std::int32_t rows, std::int32_t columns, std::int32_t depth,
                      float const* values, float const* x, float* y);

__global__ void row_sums(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    cheat(rows, columns, 1, x, x, y);
}

__global__ void softmax(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    cheat(rows, columns, 0, x, x, y);
}
