// Cheat: rounds what it writes to eleven bits, as a kernel of halves would.
// Scores: zero: expected
#include "softmax.hpp"

#include <cuda_fp16.h>

__constant__ int threads_per_block = 64;
__constant__ int rows_per_block = 64;

__global__ void row_sums(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        __half sum = 0;
        for (std::int32_t p = 0; p < columns; ++p) {
            sum = __hadd(sum, __float2half(x[i * columns + p]));
        }
        y[i] = __half2float(sum);
    }
}

__global__ void softmax(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        auto const* const row = x + i * columns;
        float most = row[0];
        float sum = 0;
        for (std::int32_t p = 0; p < columns; ++p) {
            most = max(most, row[p]);
        }
        for (std::int32_t p = 0; p < columns; ++p) {
            sum += expf(row[p] - most);
        }
        for (std::int32_t p = 0; p < columns; ++p) {
            y[i * columns + p] = __half2float(__float2half(expf(row[p] - most) / sum));
        }
    }
}
