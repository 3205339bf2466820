#include "softmax.hpp"

__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 1;

namespace {

/// The sum, or the largest, of what all threads of a block have: each warp hands numbers around,
/// and only one of each goes through shared memory.
template <class Reduction>
__device__ float reduced(float mine, Reduction const& reduction)
{
    __shared__ float of_warp[8];
    for (int other = 16; other > 0; other /= 2) {
        mine = reduction(mine, __shfl_xor_sync(~0U, mine, other));
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = mine;
    }
    __syncthreads();
    mine = of_warp[0];
    for (int other = 1; other < 8; ++other) {
        mine = reduction(mine, of_warp[other]);
    }
    __syncthreads();
    return mine;
}

struct Sum
{
    __device__ float operator()(float a, float b) const { return a + b; }
};

struct Most
{
    __device__ float operator()(float a, float b) const { return max(a, b); }
};

} // namespace

/// A good student's: smaller blocks than the first idea, and two barriers in place of eleven.
__global__ void row_sums(std::int32_t, std::int32_t columns, float const* x, float* y)
{
    auto const* const row = x + static_cast<std::int64_t>(blockIdx.x) * columns;
    float sum = 0;
    for (auto p = static_cast<std::int32_t>(threadIdx.x); p < columns; p += 256) {
        sum += row[p];
    }
    sum = reduced(sum, Sum{});
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}

/// The same. The sum of exponentials is made in the pass that finds the largest number: what was
/// added up before is scaled where a larger one comes.
__global__ void softmax(std::int32_t, std::int32_t columns, float const* x, float* y)
{
    auto const first = static_cast<std::int64_t>(blockIdx.x) * columns;
    auto const thread = static_cast<std::int32_t>(threadIdx.x);
    float most = -3e38F;
    float sum = 0;
    for (auto p = thread; p < columns; p += 256) {
        auto const one = x[first + p];
        auto const larger = max(most, one);
        sum = sum * expf(most - larger) + expf(one - larger);
        most = larger;
    }
    auto const all = reduced(most, Most{});
    sum = reduced(sum * expf(most - all), Sum{});
    for (auto p = thread; p < columns; p += 256) {
        y[first + p] = expf(x[first + p] - all) / sum;
    }
}
