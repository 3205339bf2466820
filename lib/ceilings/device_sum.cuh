#pragma once

namespace ceilings {

/// The sum over all threads of a block of `threads`, a multiple of 32, in its first thread.
template <unsigned threads, class T>
__device__ T block_sum(T value)
{
    constexpr unsigned warp = 32;
    constexpr unsigned all = 0xffffffff;
    __shared__ T partial[threads / warp];
    for (unsigned offset = warp / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(all, value, offset);
    }
    if (threadIdx.x % warp == 0) {
        partial[threadIdx.x / warp] = value;
    }
    __syncthreads();
    T sum = 0;
    for (unsigned i = 0; i < threads / warp && threadIdx.x == 0; ++i) {
        sum += partial[i];
    }
    return sum;
}

} // namespace ceilings
