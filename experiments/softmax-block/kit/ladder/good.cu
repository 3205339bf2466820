#include "softmax.hpp"

__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 8;

namespace {

__device__ float sum_of_warp(float mine)
{
    for (int other = 16; other > 0; other /= 2) {
        mine += __shfl_xor_sync(~0U, mine, other);
    }
    return mine;
}

__device__ float most_of_warp(float mine)
{
    for (int other = 16; other > 0; other /= 2) {
        mine = max(mine, __shfl_xor_sync(~0U, mine, other));
    }
    return mine;
}

__device__ std::int32_t row_of_warp()
{
    return static_cast<std::int32_t>(blockIdx.x * 8 + threadIdx.x / 32);
}

__device__ std::int32_t lane()
{
    return static_cast<std::int32_t>(threadIdx.x % 32);
}

} // namespace

/// A good student's: a warp for each row, which needs no shared memory and no barrier.
__global__ void row_sums(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    auto const i = row_of_warp();
    if (i >= rows) {
        return;
    }
    auto const* const row = x + static_cast<std::int64_t>(i) * columns;
    float sum = 0;
    for (auto p = lane(); p < columns; p += 32) {
        sum += row[p];
    }
    sum = sum_of_warp(sum);
    if (lane() == 0) {
        y[i] = sum;
    }
}

/// The same; the sum of exponentials is made in the pass that finds the largest number: what was
/// added up before is scaled where a larger one comes.
__global__ void softmax(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    auto const i = row_of_warp();
    if (i >= rows) {
        return;
    }
    auto const first = static_cast<std::int64_t>(i) * columns;
    float most = -INFINITY;
    float sum = 0;
    for (auto p = lane(); p < columns; p += 32) {
        auto const one = x[first + p];
        auto const larger = max(most, one);
        sum = sum * __expf(most - larger) + __expf(one - larger);
        most = larger;
    }
    auto const all = most_of_warp(most);
    sum = sum_of_warp(most == -INFINITY ? 0 : sum * __expf(most - all));
    auto const factor = 1 / sum;
    for (auto p = lane(); p < columns; p += 32) {
        y[first + p] = __expf(x[first + p] - all) * factor;
    }
}
