#include "spmv.hpp"

__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 8;

/// A first idea: a warp for each row, so that neighbours read neighbouring nonzeros.
__global__ void spmv(std::int32_t rows, std::int32_t, std::int32_t const* row_ptr,
                     std::int32_t const* col, double const* values, double const* x, double* y)
{
    auto const i = static_cast<std::int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    auto const lane = static_cast<std::int32_t>(threadIdx.x % 32);
    if (i >= rows) {
        return;
    }
    double sum = 0;
    for (auto p = row_ptr[i] + lane; p < row_ptr[i + 1]; p += 32) {
        sum += values[p] * x[col[p]];
    }
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(~0U, sum, offset);
    }
    if (lane == 0) {
        y[i] = sum;
    }
}
