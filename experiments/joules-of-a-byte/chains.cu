#include "kernels.hpp"

#include "cuda/error.hpp"

#include <cuda_fp16.h>

#include <type_traits>

namespace joules {

namespace {

__device__ float fused(float a, float x, float y)
{
    return fmaf(a, x, y);
}
__device__ double fused(double a, double x, double y)
{
    return fma(a, x, y);
}
__device__ __half2 fused(__half2 a, __half2 x, __half2 y)
{
    return __hfma2(a, x, y);
}
__device__ std::uint32_t fused(std::uint32_t a, std::uint32_t x, std::uint32_t y)
{
    return a * x + y;
}

__device__ __half2 sum_of(__half2 a, __half2 b)
{
    return __hadd2_rn(a, b);
}
template <class T>
__device__ T sum_of(T a, T b)
{
    return a + b;
}

//! [multiply_add]
/// Chains that do not wait for each other, in registers, each with numbers of its own.
template <class T>
__global__ void take_steps(T const* start, Steps<T> by, std::uint32_t steps, T* sums)
{
    T chain[chains];
    for (std::size_t i = 0; i < chains; ++i) {
        chain[i] = start[threadIdx.x * chains + i];
    }
#pragma unroll 4
    for (std::uint32_t step = 0; step < steps; step += 2) {
        for (auto& a : chain) {
            a = fused(a, by.x, by.y);
        }
        for (auto& a : chain) {
            a = fused(a, by.u, by.v);
        }
    }
    T sum = chain[0];
    for (std::size_t i = 1; i < chains; ++i) {
        sum = sum_of(sum, chain[i]);
    }
    sums[blockIdx.x * threads_of_block + threadIdx.x] = sum;
}
//! [multiply_add]

/// What the device computes with.
template <class T>
using OnDevice = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, T>;

__half2 twice(base::fp16 value)
{
    __half_raw raw;
    raw.x = value.bits;
    return {__half{raw}, __half{raw}};
}

} // namespace

template <class T>
void multiply_add(std::span<T const> start, Steps<T> const& by, std::uint32_t steps,
                  std::span<T> sums, cuda::Stream const& stream)
{
    auto const launch = [&]<class D>(Steps<D> const& with) {
        take_steps<D><<<blocks(), threads_of_block, 0, stream.get()>>>(
            reinterpret_cast<D const*>(start.data()), with, steps,
            reinterpret_cast<D*>(sums.data()));
        cuda::check_launch();
    };
    if constexpr (std::is_same_v<T, base::fp16>) {
        launch(Steps<__half2>{twice(by.x), twice(by.y), twice(by.u), twice(by.v)});
    } else {
        using D = OnDevice<T>;
        launch(Steps<D>{static_cast<D>(by.x), static_cast<D>(by.y), static_cast<D>(by.u),
                        static_cast<D>(by.v)});
    }
}

#define INSTANTIATE(T)                                                                             \
    template void multiply_add(std::span<T const>, Steps<T> const&, std::uint32_t, std::span<T>,   \
                               cuda::Stream const&);
INSTANTIATE(double)
INSTANTIATE(float)
INSTANTIATE(base::fp16)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

} // namespace joules
