#include "softmax.hpp"

__constant__ int threads_per_block = 64;
__constant__ int rows_per_block = 64;

/// One thread for each row.
__global__ void row_sums(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows) {
        return;
    }
    float sum = 0;
    for (std::int32_t p = 0; p < columns; ++p) {
        sum += x[i * columns + p];
    }
    y[i] = sum;
}

/// One thread for each row, which reads it three times.
__global__ void softmax(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows) {
        return;
    }
    auto const* const row = x + i * columns;
    float most = row[0];
    for (std::int32_t p = 1; p < columns; ++p) {
        most = max(most, row[p]);
    }
    float sum = 0;
    for (std::int32_t p = 0; p < columns; ++p) {
        sum += expf(row[p] - most);
    }
    for (std::int32_t p = 0; p < columns; ++p) {
        y[i * columns + p] = expf(row[p] - most) / sum;
    }
}
