#include "softmax.hpp"

__constant__ int threads_per_block = 1024;
__constant__ int rows_per_block = 1;

namespace {

/// The sum of what all threads of a block have, in shared memory: half as many add in each step.
__device__ float sum_of_block(float mine)
{
    __shared__ float sums[1024];
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    auto const sum = sums[0];
    __syncthreads();
    return sum;
}

__device__ float most_of_block(float mine)
{
    __shared__ float most[1024];
    most[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            most[threadIdx.x] = max(most[threadIdx.x], most[threadIdx.x + half]);
        }
        __syncthreads();
    }
    auto const all = most[0];
    __syncthreads();
    return all;
}

} // namespace

/// A first idea: the largest block for each row, whose threads read neighbouring elements.
__global__ void row_sums(std::int32_t, std::int32_t columns, float const* x, float* y)
{
    auto const* const row = x + static_cast<std::int64_t>(blockIdx.x) * columns;
    float sum = 0;
    for (auto p = static_cast<std::int32_t>(threadIdx.x); p < columns; p += 1024) {
        sum += row[p];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}

/// The same, three times.
__global__ void softmax(std::int32_t, std::int32_t columns, float const* x, float* y)
{
    auto const first = static_cast<std::int64_t>(blockIdx.x) * columns;
    auto const thread = static_cast<std::int32_t>(threadIdx.x);
    float most = -INFINITY;
    for (auto p = thread; p < columns; p += 1024) {
        most = max(most, x[first + p]);
    }
    most = most_of_block(most);
    float sum = 0;
    for (auto p = thread; p < columns; p += 1024) {
        sum += expf(x[first + p] - most);
    }
    sum = sum_of_block(sum);
    for (auto p = thread; p < columns; p += 1024) {
        y[first + p] = expf(x[first + p] - most) / sum;
    }
}
