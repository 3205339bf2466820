#pragma once

// Vectors as wide as the flags of the including object allow. Everything has internal linkage: each
// object gets its own copy, and the linker cannot give one object the wider code of another.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace simd {
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

/// An integer as wide as a lane of `Vector<T>` for each of its lanes.
template <class T>
using LaneMask = decltype(Vector<T>{} == Vector<T>{});

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

/// Whether `load_first` is one load, not a loop.
#if defined(__AVX2__)
constexpr bool has_masked_loads = true;
#else
constexpr bool has_masked_loads = false;
#endif

#if defined(__AVX2__) && !defined(__AVX512F__)
/// A vector loaded n words before the middle is a mask of the first n words.
constexpr std::int32_t first_lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
#endif

/// The first `count` elements, 0 <= `count` <= `lanes<T>`, and zeros in the other lanes; no byte
/// beyond them is read.
template <class T>
Vector<T> load_first(T const* from, std::size_t count)
{
#if defined(__AVX512F__)
    auto const rest = static_cast<std::uint16_t>((1u << count) - 1);
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_maskz_loadu_ps(rest, from);
    } else {
        return _mm512_maskz_loadu_pd(static_cast<__mmask8>(rest), from);
    }
#elif defined(__AVX2__)
    auto const* mask = first_lanes + 8 - count * (sizeof(T) / 4);
    auto const lanes = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(mask));
    if constexpr (std::is_same_v<T, float>) {
        return _mm256_maskload_ps(from, lanes);
    } else {
        return _mm256_maskload_pd(from, lanes);
    }
#else
    Vector<T> vector = {};
    for (std::size_t lane = 0; lane < count; ++lane) {
        vector[lane] = from[lane];
    }
    return vector;
#endif
}

#if !defined(__AVX512F__)
/// Ones in all bits of the lanes whose bits are set in `mask`, zeros in the others.
template <class T>
LaneMask<T> taken_lanes(unsigned mask)
{
    using Lane = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    LaneMask<T> bits;
    for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
        bits[lane] = Lane{1} << lane;
    }
    return (bits & static_cast<Lane>(mask)) == bits;
}
#endif

/// The elements whose bits are set in `mask`, and zeros in the other lanes; no other byte is read.
template <class T>
Vector<T> load_masked(T const* from, unsigned mask)
{
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
    } else {
        return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
    }
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
        return _mm256_maskload_ps(from, (__m256i)taken_lanes<T>(mask));
    } else {
        return _mm256_maskload_pd(from, (__m256i)taken_lanes<T>(mask));
    }
#else
    constexpr unsigned all = (1u << lanes<T>)-1;
    if ((mask & all) == all) {
        return load(from);
    }
    Vector<T> vector = {};
    for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
        if ((mask >> lane & 1) != 0) {
            vector[lane] = from[lane];
        }
    }
    return vector;
#endif
}

/// `vector` with zeros in the lanes whose bits are not set in `mask`.
template <class T>
Vector<T> keep(Vector<T> vector, unsigned mask)
{
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_maskz_mov_ps(static_cast<__mmask16>(mask), vector);
    } else {
        return _mm512_maskz_mov_pd(static_cast<__mmask8>(mask), vector);
    }
#else
    return (Vector<T>)((LaneMask<T>)vector & taken_lanes<T>(mask));
#endif
}

/// `lanes<T>` stored numbers as numbers of type `T`: doubles may be stored as floats.
template <class T, class Stored>
Vector<T> load_as(Stored const* from)
{
    if constexpr (std::is_same_v<T, Stored>) {
        return load(from);
    } else {
#if defined(__AVX512F__)
        return _mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX2__)
        return _mm256_cvtps_pd(_mm_loadu_ps(from));
#else
        Vector<T> vector = {};
        for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
            vector[lane] = from[lane];
        }
        return vector;
#endif
    }
}

/// Whether `gather` is one instruction: an object that is compiled for processors on which that is
/// fast defines SIMD_GATHER_INSTRUCTIONS. It is slower than single loads on others.
#if defined(SIMD_GATHER_INSTRUCTIONS)
constexpr bool has_gather_instructions = true;
#else
constexpr bool has_gather_instructions = false;
#endif

#if defined(SIMD_GATHER_INSTRUCTIONS)
/// The first `count` indices, 0 <= `count` <= `lanes<T>`, in words, and zeros in the other lanes;
/// no byte beyond them is read.
template <class T, class Index>
[[gnu::always_inline]] inline auto load_indices(Index const* index, std::size_t count)
{
    static_assert(sizeof(Index) == 4 || std::is_same_v<Index, std::uint16_t>);
    auto const first = static_cast<std::uint16_t>((1u << count) - 1);
    if constexpr (std::is_same_v<T, float>) {
        if constexpr (sizeof(Index) == 4) {
            return _mm512_maskz_loadu_epi32(first, index);
        } else {
            return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(first, index));
        }
    } else {
        auto const few = static_cast<std::uint8_t>(first);
        if constexpr (sizeof(Index) == 4) {
            return _mm256_maskz_loadu_epi32(few, index);
        } else {
            return _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(few, index));
        }
    }
}

/// `from[index[0]]`, ..., `from[index[count - 1]]`, and zeros in the other lanes; nothing else is
/// read. 0 <= `count` <= `lanes<T>`.
template <class T, class Index>
[[gnu::always_inline]] inline Vector<T> gather_first(T const* from, Index const* index,
                                                     std::size_t count)
{
    // The lanes that are not loaded keep what the register held. A compiler that sees that there
    // are none leaves out the zeros, and each gather waits for the one before it in that register.
    using Mask = std::conditional_t<std::is_same_v<T, float>, __mmask16, __mmask8>;
    auto first = static_cast<Mask>((1u << count) - 1);
    asm("" : "+Yk"(first)); // hides its value
    auto const indices = load_indices<T>(index, count);
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), first, indices, from, sizeof(T));
    } else {
        return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), first, indices, from, sizeof(T));
    }
}
#endif

/// `from[index[0]]`, `from[index[1]]`, ...: loaded one by one and inserted, unless
/// `has_gather_instructions`.
template <class T, class Index>
[[gnu::always_inline]] inline Vector<T> gather(T const* from, Index const* index)
{
#if defined(SIMD_GATHER_INSTRUCTIONS)
    return gather_first(from, index, lanes<T>);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, double>) {
        auto const pair = [&](int k) {
            return _mm_loadh_pd(_mm_load_sd(from + index[k]), from + index[k + 1]);
        };
        auto const half = [&](int k) {
            return _mm256_insertf128_pd(_mm256_castpd128_pd256(pair(k)), pair(k + 2), 1);
        };
#if defined(__AVX512F__)
        return _mm512_insertf64x4(_mm512_castpd256_pd512(half(0)), half(4), 1);
#else
        return half(0);
#endif
    } else {
        auto const quarter = [&](int k) {
            __m128 v = _mm_load_ss(from + index[k]);
            v = _mm_insert_ps(v, _mm_load_ss(from + index[k + 1]), 0x10);
            v = _mm_insert_ps(v, _mm_load_ss(from + index[k + 2]), 0x20);
            return _mm_insert_ps(v, _mm_load_ss(from + index[k + 3]), 0x30);
        };
        auto const half = [&](int k) {
            return _mm256_insertf128_ps(_mm256_castps128_ps256(quarter(k)), quarter(k + 4), 1);
        };
#if defined(__AVX512F__)
        __m512d const low = _mm512_castps_pd(_mm512_castps256_ps512(half(0)));
        return _mm512_castpd_ps(_mm512_insertf64x4(low, _mm256_castps_pd(half(8)), 1));
#else
        return half(0);
#endif
    }
#else
    Vector<T> vector = {};
    for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
        vector[lane] = from[index[lane]];
    }
    return vector;
#endif
}

/// Sum of all lanes.
template <class T>
T sum(Vector<T> vector)
{
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) {
        return _mm512_reduce_add_ps(vector);
    } else {
        return _mm512_reduce_add_pd(vector);
    }
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
        __m128 const four =
            _mm_add_ps(_mm256_castps256_ps128(vector), _mm256_extractf128_ps(vector, 1));
        __m128 const two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    } else {
        __m128d const two =
            _mm_add_pd(_mm256_castpd256_pd128(vector), _mm256_extractf128_pd(vector, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
#else
    T total = 0;
    for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
        total += vector[lane];
    }
    return total;
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
} // namespace simd
