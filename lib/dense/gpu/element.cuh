#pragma once

#include "base/half.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

/// \file
/// Elements of 16 bits where they are computed with. For .cu files only.

namespace dense::gpu {

/// What sums of `T` are made in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

__device__ inline float widened(float value)
{
    return value;
}
__device__ inline double widened(double value)
{
    return value;
}
__device__ inline float widened(base::fp16 value)
{
    return __half2float(__ushort_as_half(value.bits));
}
__device__ inline float widened(base::bf16 value)
{
    return __bfloat162float(__ushort_as_bfloat16(value.bits));
}

__device__ inline void narrow(float value, float& to)
{
    to = value;
}
__device__ inline void narrow(double value, double& to)
{
    to = value;
}
__device__ inline void narrow(float value, base::fp16& to)
{
    to.bits = __half_as_ushort(__float2half_rn(value));
}
__device__ inline void narrow(float value, base::bf16& to)
{
    to.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

/// Two numbers rounded to the nearest elements, in one word: the first in its lower half.
template <class T>
__device__ std::uint32_t packed(float first, float second)
{
    static_assert(std::is_same_v<T, base::bf16> || std::is_same_v<T, base::fp16>);
    if constexpr (std::is_same_v<T, base::bf16>) {
        auto const pair = __floats2bfloat162_rn(first, second);
        return reinterpret_cast<std::uint32_t const&>(pair);
    } else {
        auto const pair = __floats2half2_rn(first, second);
        return reinterpret_cast<std::uint32_t const&>(pair);
    }
}

/// `alpha x + beta c`, where `c` is not read if `beta` is 0.
template <class T>
__device__ Sum<T> scaled(Sum<T> alpha, Sum<T> x, Sum<T> beta, T const& c)
{
    return beta == 0 ? alpha * x : alpha * x + beta * widened(c);
}

} // namespace dense::gpu
