// Cheat: writes what compares with nothing.
// Scores: zero: is NaN
#include "spmv.hpp"

__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 256;

__device__ void honest(std::int32_t rows, std::int32_t const* row_ptr, std::int32_t const* col,
                       double const* values, double const* x, double* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        double sum = 0;
        for (auto p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            sum += values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}

__global__ void spmv(std::int32_t rows, std::int32_t columns, std::int32_t const* row_ptr,
                     std::int32_t const* col, double const* values, double const* x, double* y)
{
    honest(rows, row_ptr, col, values, x, y);
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        y[i] = __longlong_as_double(-1);
    }
}
