#pragma once

// The micro-kernel, included once by each object that is compiled for one instruction set. See
// `simd/vector.hpp` for why everything has internal linkage.

#include "dense/gemm.hpp"
#include "simd/vector.hpp"

#include <cstdint>

namespace dense {
namespace {

// So many sums that they fill the registers with two vectors of b: the latency of an addition is
// hidden, and each element that is loaded is used often.
constexpr int kernel_rows = simd::vector_bytes == 64 ? 12 : 6;
constexpr int kernel_vectors = 2;

//! [micro_kernel]
template <class T>
void micro_kernel(std::int64_t depth, T const* a, T const* b, T* c, std::int64_t stride, bool add)
{
    constexpr int width = static_cast<int>(simd::lanes<T>);
    // Rows of c lie far apart: they are on their way while the sums are made.
    for (int i = 0; i < kernel_rows; ++i) {
        for (int v = 0; v < kernel_vectors; ++v) {
            __builtin_prefetch(c + i * stride + v * width, 1);
        }
    }
    simd::Vector<T> sum[kernel_rows][kernel_vectors] = {};
    for (std::int64_t k = 0; k < depth; ++k) {
        simd::Vector<T> const b0 = simd::load(b);
        simd::Vector<T> const b1 = simd::load(b + width);
#pragma GCC unroll 12
        for (int i = 0; i < kernel_rows; ++i) {
            simd::Vector<T> const ai = simd::broadcast(a[i]);
            sum[i][0] = simd::multiply_add<T>(ai, b0, sum[i][0]);
            sum[i][1] = simd::multiply_add<T>(ai, b1, sum[i][1]);
        }
        a += kernel_rows;
        b += kernel_vectors * width;
    }
#pragma GCC unroll 12
    for (int i = 0; i < kernel_rows; ++i) {
        for (int v = 0; v < kernel_vectors; ++v) {
            T* const to = c + i * stride + v * width;
            simd::store(to, add ? simd::load<T>(to) + sum[i][v] : sum[i][v]);
        }
    }
}
//! [micro_kernel]

template <class T>
constexpr MicroKernel<T> kernel_of(char const* name)
{
    return {name, kernel_rows, kernel_vectors * static_cast<int>(simd::lanes<T>), micro_kernel<T>};
}

} // namespace
} // namespace dense
