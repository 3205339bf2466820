// Cheat: takes a longer first parameter, for which the driver copies what lies behind it.
// Scores: zero: parameter 0
#include <cstdint>

extern "C" {
extern __constant__ int threads_per_block, rows_per_block;
}
__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 256;

struct Longer
{
    std::int32_t rows;
    char stack[4000];
};

extern "C" __global__ void spmv(Longer longer, std::int32_t, std::int32_t const* row_ptr,
                                std::int32_t const* col, double const* values, double const* x,
                                double* y)
{
    auto const i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < longer.rows) {
        double sum = 0;
        for (auto p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            sum += values[p] * x[col[p]];
        }
        y[i] = sum + 0 * longer.stack[threadIdx.x];
    }
}
