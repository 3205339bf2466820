#pragma once

// Short vectors for short sums. Everything has internal linkage; see `vector.hpp` for why.

#include "simd/vector.hpp"

#include <cstddef>
#include <type_traits>

namespace simd {
namespace {

/// Elements of a `Quad`: four, or two doubles where vectors are no wider.
template <class T>
constexpr std::size_t quad_lanes = lanes<T> < 4 ? lanes<T> : 4;

template <class T>
struct QuadTypes
{
    static constexpr std::size_t bytes = quad_lanes<T> * sizeof(T);
    using Aligned [[gnu::vector_size(bytes)]] = T;
    typedef T Unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};

/// Four elements in a register: few enough that the end of a row seldom leaves it half empty, and
/// that their sum is found quickly.
template <class T>
using Quad = typename QuadTypes<T>::Aligned;

template <class T>
Quad<T> load_quad(T const* from)
{
    return *reinterpret_cast<typename QuadTypes<T>::Unaligned const*>(from);
}

/// `from[index[0]]`, `from[index[1]]`, ...: loaded one by one.
template <class T, class Index>
Quad<T> gather_quad(T const* from, Index const* index)
{
#if defined(__AVX2__)
    if constexpr (std::is_same_v<T, double>) {
        __m128d const low = _mm_loadh_pd(_mm_load_sd(from + index[0]), from + index[1]);
        __m128d const high = _mm_loadh_pd(_mm_load_sd(from + index[2]), from + index[3]);
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
    } else {
        __m128 four = _mm_load_ss(from + index[0]);
        four = _mm_insert_ps(four, _mm_load_ss(from + index[1]), 0x10);
        four = _mm_insert_ps(four, _mm_load_ss(from + index[2]), 0x20);
        return _mm_insert_ps(four, _mm_load_ss(from + index[3]), 0x30);
    }
#else
    Quad<T> some = {};
    for (std::size_t lane = 0; lane < quad_lanes<T>; ++lane) {
        some[lane] = from[index[lane]];
    }
    return some;
#endif
}

/// `a * b + c`, rounded once where the instruction set can.
template <class T>
Quad<T> multiply_add_quad(Quad<T> a, Quad<T> b, Quad<T> c)
{
#if defined(__AVX2__)
    if constexpr (std::is_same_v<T, double>) {
        return _mm256_fmadd_pd(a, b, c);
    } else {
        return _mm_fmadd_ps(a, b, c);
    }
#else
    return multiply_add<T>(a, b, c);
#endif
}

/// Sum of all lanes.
template <class T>
T sum_quad(Quad<T> some)
{
#if defined(__AVX2__)
    if constexpr (std::is_same_v<T, double>) {
        __m128d const two =
            _mm_add_pd(_mm256_castpd256_pd128(some), _mm256_extractf128_pd(some, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    } else {
        __m128 const two = _mm_add_ps(some, _mm_movehl_ps(some, some));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
#else
    return sum<T>(some);
#endif
}

} // namespace
} // namespace simd
