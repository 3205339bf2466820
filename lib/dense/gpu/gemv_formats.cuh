#pragma once

#include "dense/gpu/gemv_steps.hpp"
#include "dense/gpu/tile.cuh"

#include <cuda_fp8.h>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

/// \file
/// How kernels read weights, and turn them into floats or into operands of tensor cores. For .cu
/// files only.

namespace dense::gpu {

// --- numbers -------------------------------------------------------------------------------------

/// The two numbers of a word that holds a pair of bf16.
__device__ inline float low_float(std::uint32_t pair)
{
    return __uint_as_float(pair << 16);
}
__device__ inline float high_float(std::uint32_t pair)
{
    return __uint_as_float(pair & 0xffff0000u);
}

__device__ inline float as_float(base::bf16 x)
{
    return __uint_as_float(std::uint32_t{x.bits} << 16);
}

__device__ inline float as_float(base::e4m3 x)
{
    return __half2float(__nv_cvt_fp8_to_halfraw(x.bits, __NV_E4M3));
}

/// Rounded to the nearest, ties to even; a NaN stays one.
__device__ inline base::bf16 rounded_bf16(float x)
{
    std::uint32_t const bits = __float_as_uint(x);
    base::bf16 y;
    y.bits =
        static_cast<std::uint16_t>(isnan(x) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    return y;
}

/// Two floats as a pair of bf16, the first in the lower half.
__device__ inline std::uint32_t bf16_pair(float low, float high)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    std::uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return rounded_bf16(low).bits | std::uint32_t{rounded_bf16(high).bits} << 16;
#endif
}

/// Two numbers of 8 bits as floats.
__device__ inline float2 as_floats(std::uint16_t pair)
{
    return __half22float2(__nv_cvt_fp8x2_to_halfraw2(pair, __NV_E4M3));
}

// --- tensor cores --------------------------------------------------------------------------------

/// Vectors of a tile.
constexpr int tile_vectors = 8;

/// `sum += a b`: of 16 x 16 weights lane l has columns 2 (l % 4) and the one after it of row l / 4
/// (a0), of the eighth row after that (a1), and the same eight columns further (a2, a3); of the
/// vectors the same columns of vector l / 4. Sums are of vectors 2 (l % 4) and the one after it,
/// two of row l / 4 and two of the eighth after it. PTX: mma.
__device__ inline void multiply_tile(float (&sum)[4], std::uint32_t a0, std::uint32_t a1,
                                     std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                     std::uint32_t b1)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
    __trap();
#endif
}

__device__ inline std::uint32_t word(uint4 const& v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/// 16 bytes that are read once, so that they need no place in caches.
__device__ inline uint4 load_once(void const* at)
{
    return __ldcs(static_cast<uint4 const*>(at));
}

// --- weights -------------------------------------------------------------------------------------

/// Rows of elements as they stand in memory; scales are null where elements are as they are.
template <class E>
struct RowWeights
{
    View<E const> elements;
    float const* scales;

    __device__ float scale(int row) const { return scales == nullptr ? 1.0f : scales[row]; }
};

inline RowWeights<base::bf16> rows_of(Matrix<base::bf16 const> const& w)
{
    return {view_of(w), nullptr};
}

inline RowWeights<base::e4m3> rows_of(Fp8Weights const& w)
{
    return {view_of(w.elements), w.scales.data()};
}

/// A pack that is read once, so that it needs no place in caches.
template <class E>
__device__ Pack<E> load_pack_once(E const* at)
{
    auto const words = __ldcs(reinterpret_cast<uint4 const*>(at));
    return *reinterpret_cast<Pack<E> const*>(&words);
}

/// The elements of a pack as floats.
__device__ inline void unpack(Pack<base::bf16> const& pack, float (&value)[8])
{
    auto const words = *reinterpret_cast<uint4 const*>(&pack);
    std::uint32_t const word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        value[2 * i] = low_float(word[i]);
        value[2 * i + 1] = high_float(word[i]);
    }
}

__device__ inline void unpack(Pack<base::e4m3> const& pack, float (&value)[16])
{
    auto const words = *reinterpret_cast<uint4 const*>(&pack);
    std::uint32_t const word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        auto const pair = as_floats(static_cast<std::uint16_t>(word[i / 2] >> 16 * (i % 2)));
        value[2 * i] = pair.x;
        value[2 * i + 1] = pair.y;
    }
}

/// Adds products of a pack of weights and the elements of a vector beside it.
template <class E>
__device__ float product(Pack<E> const& weights, base::bf16 const* x)
{
    float w[Pack<E>::size];
    unpack(weights, w);
    float sum = 0;
#pragma unroll
    for (int first = 0; first < Pack<E>::size; first += 8) {
        float of_x[8];
        unpack(*reinterpret_cast<Pack<base::bf16> const*>(x + first), of_x);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            sum += w[first + i] * of_x[i];
        }
    }
    return sum;
}

/// Where weights of 4 bits stand. A tile of 16 rows and 128 columns is 1,024 bytes: lane l finds
/// its columns of row l / 4 in 16 bytes of the first half, of the eighth row after it in 16 of the
/// second. Word i of them has columns 32 i + 8 (l % 4) to 7 further: nibble n is column 2 n of
/// these for the first four, nibble 4 + n the one after it, and each is 8 more than the integer.
/// Behind two tiles stand the scales of both, in pairs of a row and the eighth after it.
struct Int4Tiles
{
    static constexpr int tile_rows = 16;
    static constexpr int tile_bytes = 1024;
    static constexpr int scale_bytes = 32; ///< of a tile
    static constexpr int pair_bytes = 2 * (tile_bytes + scale_bytes);

    int pairs; ///< of tiles along k

    /// Where two tiles begin, in bytes behind the first.
    __host__ __device__ std::int64_t pair(int panel, int index) const
    {
        return (std::int64_t{panel} * pairs + index) * pair_bytes;
    }
    /// Where 16 bytes of a lane begin.
    __host__ __device__ std::int64_t part(int panel, int tile, int half, int lane) const
    {
        return pair(panel, tile / 2) + tile % 2 * tile_bytes + half * tile_bytes / 2 + lane * 16;
    }
    /// Where the two scales of rows g and g + 8 begin.
    __host__ __device__ std::int64_t scales(int panel, int tile, int g) const
    {
        return pair(panel, tile / 2) + 2 * tile_bytes + tile % 2 * scale_bytes + g * 4;
    }
};

inline Int4Tiles int4_tiles(std::int64_t columns)
{
    return {static_cast<int>(ceil_div(columns, 2 * int4_group))};
}

/// Writes the result of a sum.
__device__ inline void write(GemvResult const& y, int vector, int row, float sum)
{
    auto* const at = y.data + vector * y.of_vector + row * y.of_row;
    float const scaled = y.alpha * sum;
    *at = rounded_bf16(y.beta == 0 ? scaled : scaled + y.beta * as_float(*at));
}

/// Adds up over the lanes of a warp; all get the sum.
__device__ inline float sum_of_warp(float x)
{
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) {
        x += __shfl_xor_sync(~0u, x, lane);
    }
    return x;
}

template <class W>
std::int64_t rows_in(W const& w)
{
    if constexpr (requires { w.elements; }) {
        return w.elements.rows;
    } else {
        return w.rows;
    }
}

/// Elements of weights that stand in rows.
template <class W>
using ElementOf = std::remove_cvref_t<decltype(rows_of(std::declval<W>()).elements.data[0])>;

/// Why kernels that read rows by packs are not made for these operands; empty if they are.
template <class W>
std::string_view refuses_parts(W const& w, Matrix<base::bf16 const> const& x)
{
    auto const of_w = rows_of(w).elements;
    bool const is_whole = of_w.is_aligned && of_w.columns % Pack<ElementOf<W>>::size == 0 &&
                          has_aligned_rows(x.data, x.stride);
    return is_whole ? "" : "it takes rows of whole packs of 16 bytes";
}

} // namespace dense::gpu
