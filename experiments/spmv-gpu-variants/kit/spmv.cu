#include "spmv.hpp"

/// BEGIN SOLUTION
__constant__ int threads_per_block = 128;
__constant__ int rows_per_block = 32;

namespace {

constexpr int threads = 128;
constexpr int rows_of_block = 32;
constexpr int room = 1152; ///< products that a block keeps
constexpr int group = 8;   ///< threads that share a row where there are more

/// The sum over groups of so many lanes, in the first of each.
template <int lanes>
__device__ double sum_of(double value)
{
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(~0U, value, offset, lanes);
    }
    return value;
}

} // namespace

/// All threads of a block read its nonzeros one beside the other, whichever row they are of, and
/// keep the products for those who add them up. Where there are too many, eight threads share a
/// row. END SOLUTION
__global__ void spmv(std::int32_t rows, std::int32_t columns, std::int32_t const* row_ptr,
                     std::int32_t const* col, double const* values, double const* x, double* y)
{
    /// BEGIN SOLUTION
    __shared__ double products[room];
    auto const thread = static_cast<std::int32_t>(threadIdx.x);
    auto const first = static_cast<std::int32_t>(blockIdx.x) * rows_of_block;
    auto const last = min(first + rows_of_block, rows);
    auto const begin = row_ptr[first];
    auto const end = row_ptr[last];
    if (end - begin <= room) {
#pragma unroll 8
        for (auto p = begin + thread; p < end; p += threads) {
            products[p - begin] = values[p] * __ldg(x + col[p]);
        }
        __syncthreads();
        constexpr int lanes = threads / rows_of_block;
        auto const i = first + thread / lanes;
        double sum = 0;
        if (i < last) {
            for (auto p = row_ptr[i] + thread % lanes; p < row_ptr[i + 1]; p += lanes) {
                sum += products[p - begin];
            }
        }
        sum = sum_of<lanes>(sum);
        if (i < last && thread % lanes == 0) {
            y[i] = sum;
        }
        return;
    }
    for (auto step = 0; step < rows_of_block; step += threads / group) {
        auto const i = first + step + thread / group;
        double sum = 0;
        if (i < last) {
            for (auto p = row_ptr[i] + thread % group; p < row_ptr[i + 1]; p += group) {
                sum += values[p] * __ldg(x + col[p]);
            }
        }
        sum = sum_of<group>(sum);
        if (i < last && thread % group == 0) {
            y[i] = sum;
        }
    }
    /// END SOLUTION
}
