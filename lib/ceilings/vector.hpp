#pragma once

// Vectors as wide as the flags of the including object allow. Everything has internal linkage: each
// object gets its own copy, and the linker cannot give one object the wider code of another.

#include <cstddef>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ceilings {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif

template <class T>
constexpr std::size_t lanes = vector_bytes / sizeof(T);

template <class T>
struct VectorTypes
{
    using Aligned [[gnu::vector_size(vector_bytes)]] = T;
    typedef T Unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
};

/// `lanes<T>` elements in one register.
template <class T>
using Vector = typename VectorTypes<T>::Aligned;

template <class T>
Vector<T> load(T const* from)
{
    return *reinterpret_cast<typename VectorTypes<T>::Unaligned const*>(from);
}

template <class T>
void store(T* to, Vector<T> vector)
{
    *reinterpret_cast<typename VectorTypes<T>::Unaligned*>(to) = vector;
}

template <class T>
Vector<T> broadcast(T value)
{
    return value - Vector<T>{};
}

/// Stores past the caches, without reading the line first. `to` is aligned to `vector_bytes`.
/// AArch64 has no such store for whole registers; its cores detect full lines by themselves.
template <class T>
void stream(T* to, Vector<T> vector)
{
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(vector));
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(vector));
#elif defined(__x86_64__)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(vector));
#else
    store(to, vector);
#endif
}

/// Makes streamed stores visible to other threads before anything that follows.
inline void finish_streaming()
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

/// `a * b + c`, rounded once where the instruction set can.
template <class T>
Vector<T> multiply_add(Vector<T> a, Vector<T> b, Vector<T> c)
{
    [[maybe_unused]] constexpr bool single = std::is_same_v<T, float>;
#if defined(__AVX512F__)
    if constexpr (single) {
        return _mm512_fmadd_ps(a, b, c);
    } else {
        return _mm512_fmadd_pd(a, b, c);
    }
#elif defined(__AVX2__)
    if constexpr (single) {
        return _mm256_fmadd_ps(a, b, c);
    } else {
        return _mm256_fmadd_pd(a, b, c);
    }
#elif defined(__aarch64__)
    if constexpr (single) {
        return vfmaq_f32(c, a, b);
    } else {
        return vfmaq_f64(c, a, b);
    }
#else
    return a * b + c;
#endif
}

/// Hides from the compiler that `vector` stays the same, so that a product with it is computed
/// anew.
template <class T>
void forget([[maybe_unused]] Vector<T>& vector)
{
#if defined(__x86_64__) && !defined(__AVX2__)
    asm volatile("" : "+x"(vector));
#endif
}

} // namespace
} // namespace ceilings
