#include "dense/gpu/tile.cuh"

#include "cuda/error.hpp"

#include <cstdint>

namespace dense::gpu {

namespace {

// A block of 4 warps makes 128 x 128 elements of c; each warp 64 x 64 of them, in pieces of 16 x 8.
constexpr int threads = 128;
constexpr int rows_of_block = 128;
constexpr int columns_of_block = 128;
constexpr int depth_of_block = 32;
constexpr int stages = 3;
// Gaps behind rows of a tile, so that the lanes of a warp read from different banks.
constexpr int stride_a = depth_of_block + 4;
constexpr int stride_b = columns_of_block + 8;
constexpr int elements_a = rows_of_block * stride_a;
constexpr int elements_b = depth_of_block * stride_b;
constexpr int bytes = stages * (elements_a + elements_b) * static_cast<int>(sizeof(float));

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// What TF32 keeps of a number: 10 bits behind the point.
__device__ std::uint32_t tf32(float value)
{
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}

/// A number as TF32, or as the sum of two such. The conversion above takes eight instructions for
/// two numbers; for a sum, a plain rounding of the bits is enough: where it spoils a NaN, the rest
/// is one. Of the rest the tensor cores themselves take no more than TF32 has.
template <bool three>
struct Split
{
    std::uint32_t whole;
    std::uint32_t rest;

    __device__ void set(float value)
    {
        if (three) {
            whole = (__float_as_uint(value) + 0x1000) & 0xffffe000;
            rest = __float_as_uint(value - __uint_as_float(whole));
        } else {
            whole = tf32(value);
        }
    }
};

/// A piece of a, 16 x 8, as the tensor cores want it: `ldmatrix` gives lane l of a warp the word
/// l % 4 of row l / 4 of each of four squares. PTX ISA, `mma.m16n8k8` with `.tf32`.
__device__ void load_piece(float (&piece)[4], float const* tile)
{
    int const lane = threadIdx.x % 32;
    int const row = lane % 16;
    int const column = lane / 16 * 4;
    auto const from =
        static_cast<unsigned>(__cvta_generic_to_shared(tile + row * stride_a + column));
    std::uint32_t word[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(from));
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        piece[e] = __uint_as_float(word[e]);
    }
}

__device__ void multiply(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                         std::uint32_t a3, std::uint32_t b0, std::uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

//! [fragments]
/// The operands of the tensor cores are loaded by hand: a by `ldmatrix`, b word by word, both
/// without bank conflicts, while asynchronous copies bring the next tiles. The three products of
/// one piece do not follow each other at once, as each waits for the sum of the one before. Where
/// tiles are `whole`, nothing asks for edges.
template <bool three, bool whole>
__global__ void __launch_bounds__(threads, 2)
    fragments(View<float const> a, View<float const> b, View<float> c, int tiles_down,
              int tiles_across)
{
    constexpr int pieces_i = 4;
    constexpr int pieces_j = 8;
    constexpr int packs_a = depth_of_block / 4;
    constexpr int packs_b = columns_of_block / 4;
    float* const tiles_a = shared_memory<float>();
    float* const tiles_b = tiles_a + stages * elements_a;
    Place const place = place_in_patch(blockIdx.x, tiles_down, tiles_across);
    int const i0 = place.i * rows_of_block;
    int const j0 = place.j * columns_of_block;
    int const warp = threadIdx.x / 32;
    int const iw = warp % 2 * 64;
    int const jw = warp / 2 * 64;
    int const row = threadIdx.x % 32 / 4; // of the lane in a piece
    int const word = threadIdx.x % 4;
    // What this thread copies: every so manyth row of both tiles.
    int const row_a = threadIdx.x / packs_a, pack_a = threadIdx.x % packs_a * 4;
    int const row_b = threadIdx.x / packs_b, pack_b = threadIdx.x % packs_b * 4;
    int const depth = a.columns;
    float const* from_a = a.data + (i0 + row_a) * a.stride + pack_a;
    float const* from_b = b.data + row_b * b.stride + j0 + pack_b;
    auto const fetch = [&](int stage, int k0) {
        if (k0 < depth) {
            float* const to_a = tiles_a + stage * elements_a + row_a * stride_a + pack_a;
            float* const to_b = tiles_b + stage * elements_b + row_b * stride_b + pack_b;
#pragma unroll
            for (int i = 0; i < rows_of_block; i += threads / packs_a) {
                if (whole) {
                    __pipeline_memcpy_async(to_a + i * stride_a, from_a + i * a.stride, 16);
                } else {
                    copy_pack(reinterpret_cast<Pack<float>*>(to_a + i * stride_a), a,
                              i0 + row_a + i, k0 + pack_a);
                }
            }
#pragma unroll
            for (int k = 0; k < depth_of_block; k += threads / packs_b) {
                if (whole) {
                    __pipeline_memcpy_async(to_b + k * stride_b, from_b + k * b.stride, 16);
                } else {
                    copy_pack(reinterpret_cast<Pack<float>*>(to_b + k * stride_b), b,
                              k0 + row_b + k, j0 + pack_b);
                }
            }
            from_a += depth_of_block;
            from_b += depth_of_block * b.stride;
        }
        __pipeline_commit();
    };
    float sum[pieces_i][pieces_j][4] = {};
#pragma unroll
    for (int stage = 0; stage < stages - 1; ++stage) {
        fetch(stage, stage * depth_of_block);
    }
    int stage = 0;
    for (int k0 = 0; k0 < depth; k0 += depth_of_block) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        fetch(stage == 0 ? stages - 1 : stage - 1, k0 + (stages - 1) * depth_of_block);
        float const* const tile_a = tiles_a + stage * elements_a + iw * stride_a;
        float const* const tile_b = tiles_b + stage * elements_b + jw;
#pragma unroll
        for (int k = 0; k < depth_of_block; k += 8) {
            Split<three> of_a[pieces_i][4];
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
                float piece[4];
                load_piece(piece, tile_a + i * 16 * stride_a + k);
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    of_a[i][e].set(piece[e]);
                }
            }
#pragma unroll
            for (int j = 0; j < pieces_j; ++j) {
                Split<three> of_b[2];
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    of_b[e].set(tile_b[(k + e * 4 + word) * stride_b + j * 8 + row]);
                }
                if (three) {
#pragma unroll
                    for (int i = 0; i < pieces_i; ++i) {
                        multiply(sum[i][j], of_a[i][0].rest, of_a[i][1].rest, of_a[i][2].rest,
                                 of_a[i][3].rest, of_b[0].whole, of_b[1].whole);
                    }
#pragma unroll
                    for (int i = 0; i < pieces_i; ++i) {
                        multiply(sum[i][j], of_a[i][0].whole, of_a[i][1].whole, of_a[i][2].whole,
                                 of_a[i][3].whole, of_b[0].rest, of_b[1].rest);
                    }
                }
#pragma unroll
                for (int i = 0; i < pieces_i; ++i) {
                    multiply(sum[i][j], of_a[i][0].whole, of_a[i][1].whole, of_a[i][2].whole,
                             of_a[i][3].whole, of_b[0].whole, of_b[1].whole);
                }
            }
        }
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
        for (int j = 0; j < pieces_j; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int const to_i = i0 + iw + i * 16 + row + e / 2 * 8;
                int const to_j = j0 + jw + j * 8 + word * 2 + e % 2;
                if (whole || (to_i < c.rows && to_j < c.columns)) {
                    c.data[to_i * c.stride + to_j] = sum[i][j][e];
                }
            }
        }
    }
}
//! [fragments]
#else
/// Older GPUs do not know TF32: `refuses_old_gpus` keeps them from here.
template <bool three, bool whole>
__global__ void fragments(View<float const>, View<float const>, View<float>, int, int)
{
    __trap();
}
#endif

template <bool three>
void launch(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
            cuda::Stream const& stream)
{
    bool const whole = has_whole_tiles(a, b, rows_of_block, columns_of_block, depth_of_block);
    auto const kernel = whole ? fragments<three, true> : fragments<three, false>;
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    auto const down = ceil_div(c.rows, rows_of_block);
    auto const across = ceil_div(c.columns, columns_of_block);
    kernel<<<static_cast<unsigned>(down * across), threads, bytes, stream.get()>>>(
        view_of(a), view_of(b), view_of(c), static_cast<int>(down), static_cast<int>(across));
    cuda::check_launch();
}

std::string_view refuses_old_gpus(Matrix<float const> const&, Matrix<float const> const&,
                                  Matrix<float> const&)
{
    return refusal_before(80, "this GPU's tensor cores do not know TF32");
}

} // namespace

std::vector<Step<float>> fragment_steps()
{
    return {{"fragments_tf32", launch<false>, refuses_old_gpus},
            {"fragments_3xtf32", launch<true>, refuses_old_gpus}};
}

} // namespace dense::gpu
