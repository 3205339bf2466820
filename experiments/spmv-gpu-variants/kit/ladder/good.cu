#include "spmv.hpp"

__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 32;

/// A good student's: eight threads for each row.
__global__ void spmv(std::int32_t rows, std::int32_t columns, std::int32_t const* row_ptr,
                     std::int32_t const* col, double const* values, double const* x, double* y)
{
    constexpr unsigned lanes = 8;
    auto const i = static_cast<std::int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / lanes);
    auto const lane = static_cast<std::int32_t>(threadIdx.x % lanes);
    double sum = 0;
    if (i < rows) {
        for (auto p = row_ptr[i] + lane; p < row_ptr[i + 1];
             p += static_cast<std::int32_t>(lanes)) {
            sum += values[p] * __ldg(x + col[p]);
        }
    }
    for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(~0U, sum, offset, lanes);
    }
    if (lane == 0 && i < rows) {
        y[i] = sum;
    }
}
