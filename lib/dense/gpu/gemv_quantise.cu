#include "cuda/error.hpp"
#include "dense/gpu/gemv_formats.cuh"

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>

namespace dense::gpu {

namespace {

constexpr int threads = 256;
constexpr int tile_rows = Int4Tiles::tile_rows;
constexpr int group = static_cast<int>(int4_group);

__device__ float largest_of_warp(float x)
{
    for (int lane = 16; lane > 0; lane /= 2) {
        x = fmaxf(x, __shfl_xor_sync(~0u, x, lane));
    }
    return x;
}

/// The least power of two that brings `largest` to 448 or below; 1 for 0.
__device__ float fp8_scale(float largest)
{
    if (largest == 0) {
        return 1;
    }
    int exponent = 0;
    float const fraction = frexpf(largest / static_cast<float>(base::e4m3::largest), &exponent);
    return ldexpf(1, max(-126, fraction == 0.5f ? exponent - 1 : exponent));
}

/// A block for each row.
__global__ void __launch_bounds__(threads)
    to_fp8(View<base::bf16 const> w, View<base::e4m3> elements, float* scales)
{
    __shared__ float part[threads / 32];
    int const row = blockIdx.x;
    float largest = 0;
    for (int k = threadIdx.x; k < w.columns; k += threads) {
        float const magnitude = fabsf(as_float(w.data[row * w.stride + k]));
        largest = isfinite(magnitude) ? fmaxf(largest, magnitude) : largest;
    }
    largest = largest_of_warp(largest);
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = largest;
    }
    __syncthreads();
    for (float const of_warp : part) {
        largest = fmaxf(largest, of_warp);
    }
    float const scale = fp8_scale(largest);
    for (int k = threadIdx.x; k < w.columns; k += threads) {
        float const value = as_float(w.data[row * w.stride + k]) / scale;
        elements.data[row * elements.stride + k].bits =
            isfinite(value) ? __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3) : 0x7f;
    }
    if (threadIdx.x == 0) {
        scales[row] = scale;
    }
}

/// What a warp finds out about a row of a tile: four integers of each lane, and a scale.
struct OfRow
{
    int integer[4];
    __half scale;
};

/// From the weights themselves.
struct Rounded
{
    View<base::bf16 const> w;

    __device__ OfRow operator()(int row, int tile) const
    {
        int const first = tile * group + threadIdx.x % 32 * 4;
        float value[4] = {};
        float largest = 0;
        bool is_finite = true;
        for (int i = 0; i < 4; ++i) {
            if (row < w.rows && first + i < w.columns) {
                value[i] = as_float(w.data[row * w.stride + first + i]);
            }
            largest = fmaxf(largest, fabsf(value[i]));
            is_finite = is_finite && isfinite(value[i]);
        }
        largest = largest_of_warp(largest);
        OfRow made{{}, __float2half(largest / 7)};
        float const scale = __half2float(made.scale);
        if (!__all_sync(~0u, is_finite)) {
            made.scale = __float2half(nanf(""));
        } else if (scale > 0) {
            for (int i = 0; i < 4; ++i) {
                made.integer[i] = static_cast<int>(fminf(fmaxf(rintf(value[i] / scale), -8), 7));
            }
        }
        return made;
    }
};

/// From integers and scales.
struct Given
{
    View<std::int8_t const> integers;
    View<base::fp16 const> scales;

    __device__ OfRow operator()(int row, int tile) const
    {
        int const first = tile * group + threadIdx.x % 32 * 4;
        OfRow found{};
        if (row < integers.rows && tile < scales.columns) {
            for (int i = 0; i < 4; ++i) {
                if (first + i < integers.columns) {
                    int const bits = integers.data[row * integers.stride + first + i] & 15;
                    found.integer[i] = bits < 8 ? bits : bits - 16;
                }
            }
            found.scale = __ushort_as_half(scales.data[row * scales.stride + tile].bits);
        }
        return found;
    }
};

/// A block for each tile of 16 rows, a warp for each row.
template <class Source>
__global__ void __launch_bounds__(32 * tile_rows)
    to_int4(Source source, Int4Tiles layout, std::byte* packed)
{
    __shared__ std::int8_t integer[tile_rows][group];
    int const panel = blockIdx.y;
    int const tile = blockIdx.x;
    int const row = threadIdx.x / 32;
    auto const made = source(panel * tile_rows + row, tile);
    for (int i = 0; i < 4; ++i) {
        integer[row][threadIdx.x % 32 * 4 + i] = static_cast<std::int8_t>(made.integer[i]);
    }
    if (threadIdx.x % 32 == 0) {
        auto* const pair = reinterpret_cast<__half*>(packed + layout.scales(panel, tile, row % 8));
        pair[row / 8] = made.scale;
    }
    __syncthreads();
    if (threadIdx.x < Int4Tiles::tile_bytes / 4) {
        int const half = threadIdx.x / 128;
        int const lane = threadIdx.x % 128 / 4;
        int const word = threadIdx.x % 4;
        auto const* const from = &integer[half * 8 + lane / 4][word * 32 + lane % 4 * 8];
        std::uint32_t bits = 0;
        for (int i = 0; i < 4; ++i) {
            bits |= static_cast<std::uint32_t>(from[2 * i] + 8) << 4 * i;
            bits |= static_cast<std::uint32_t>(from[2 * i + 1] + 8) << 4 * (4 + i);
        }
        auto* const to = packed + layout.part(panel, tile, half, lane);
        reinterpret_cast<std::uint32_t*>(to)[word] = bits;
    }
}

template <class Source>
void launch_to_int4(Source const& source, int rows, int columns, std::span<std::byte> packed,
                    cuda::Stream const& stream)
{
    auto const layout = int4_tiles(columns);
    dim3 const blocks{2 * static_cast<unsigned>(layout.pairs),
                      static_cast<unsigned>(ceil_div(rows, tile_rows))};
    to_int4<<<blocks, 32 * tile_rows, 0, stream.get()>>>(source, layout, packed.data());
    cuda::check_launch();
}

__global__ void __launch_bounds__(threads) from_fp8(RowWeights<base::e4m3> w, View<float> to)
{
    int const row = blockIdx.x;
    for (int k = threadIdx.x; k < to.columns; k += threads) {
        to.data[row * to.stride + k] =
            w.scale(row) * as_float(w.elements.data[row * w.elements.stride + k]);
    }
}

__global__ void __launch_bounds__(threads)
    from_int4(std::byte const* packed, Int4Tiles layout, View<float> to)
{
    int const row = blockIdx.x;
    int const panel = row / tile_rows;
    int const half = row % tile_rows / 8;
    int const g = row % 8;
    for (int k = threadIdx.x; k < to.columns; k += threads) {
        int const tile = k / group;
        auto const* const words = reinterpret_cast<std::uint32_t const*>(
            packed + layout.part(panel, tile, half, g * 4 + k % 32 / 8));
        int const nibble = k % 8 / 2 + k % 2 * 4;
        auto const integer = static_cast<int>(words[k % group / 32] >> 4 * nibble & 15) - 8;
        auto const* const scales =
            reinterpret_cast<__half const*>(packed + layout.scales(panel, tile, g));
        to.data[row * to.stride + k] = static_cast<float>(integer) * __half2float(scales[half]);
    }
}

unsigned blocks_of(std::int64_t rows)
{
    return static_cast<unsigned>(rows);
}

} // namespace

void launch_quantise_fp8(Matrix<base::bf16 const> w, Matrix<base::e4m3> elements, float* scales,
                         cuda::Stream const& stream)
{
    to_fp8<<<blocks_of(w.rows), threads, 0, stream.get()>>>(view_of(w), view_of(elements), scales);
    cuda::check_launch();
}

void launch_quantise_int4(Matrix<base::bf16 const> w, std::span<std::byte> packed,
                          cuda::Stream const& stream)
{
    launch_to_int4(Rounded{view_of(w)}, static_cast<int>(w.rows), static_cast<int>(w.columns),
                   packed, stream);
}

void launch_pack_int4(Matrix<std::int8_t const> integers, Matrix<base::fp16 const> scales,
                      std::span<std::byte> packed, cuda::Stream const& stream)
{
    launch_to_int4(Given{view_of(integers), view_of(scales)}, static_cast<int>(integers.rows),
                   static_cast<int>(integers.columns), packed, stream);
}

void launch_dequantise(Fp8Weights const& w, Matrix<float> to, cuda::Stream const& stream)
{
    from_fp8<<<blocks_of(to.rows), threads, 0, stream.get()>>>(rows_of(w), view_of(to));
    cuda::check_launch();
}

void launch_dequantise(Int4Weights const& w, Matrix<float> to, cuda::Stream const& stream)
{
    from_int4<<<blocks_of(to.rows), threads, 0, stream.get()>>>(w.packed.data(),
                                                                int4_tiles(w.columns), view_of(to));
    cuda::check_launch();
}

} // namespace dense::gpu
