#include "dense/gpu/gemm_half.hpp"

#include "cuda/error.hpp"
#include "dense/gpu/element.cuh"
#include "dense/gpu/tile.cuh"

#include <cstdint>

namespace dense::gpu {

namespace {

// A block of 4 warps makes 128 x 128 elements of c; each warp 64 x 64 of them, in pieces of 16 x 8.
constexpr int threads = 128;
constexpr int rows_of_block = 128;
constexpr int columns_of_block = 128;
constexpr int depth_of_block = 32;
constexpr int stages = 3;
// Gaps behind rows of a tile, so that the eight rows that `ldmatrix` reads lie in different banks.
constexpr int stride_a = depth_of_block + 8;
constexpr int stride_b = columns_of_block + 8;
constexpr int elements_a = rows_of_block * stride_a;
constexpr int elements_b = depth_of_block * stride_b;
constexpr int bytes = stages * (elements_a + elements_b) * 2;

/// Four squares of 8 x 8 that stand two by two, begun at `tile`: of each, lane l of a warp gets
/// elements 2 (l % 4) and the one after it of row l / 4; of column l / 4 if `transposed`. They come
/// in the order top left, bottom left, top right, bottom right. PTX ISA, `ldmatrix`.
template <bool transposed, int stride, class T>
__device__ void load_squares(std::uint32_t (&square)[4], T const* tile)
{
    int const lane = threadIdx.x % 32;
    auto const from =
        static_cast<unsigned>(__cvta_generic_to_shared(tile + lane % 16 * stride + lane / 16 * 8));
    if constexpr (transposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(square[0]), "=r"(square[1]), "=r"(square[2]), "=r"(square[3])
                     : "r"(from));
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(square[0]), "=r"(square[1]), "=r"(square[2]), "=r"(square[3])
                     : "r"(from));
    }
}

/// `sum += a b` of 16 x 16 and 16 x 8 elements. Before compute capability 8.0 tensor cores take
/// half of that depth at a time, and no bf16: `refuses_old_gpus` keeps that from here.
template <class T>
__device__ void multiply(float (&sum)[4], std::uint32_t const (&a)[4], std::uint32_t b0,
                         std::uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, base::bf16>) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
#else
    if constexpr (std::is_same_v<T, base::bf16>) {
        __trap();
    } else {
        auto const half = [&](std::uint32_t top, std::uint32_t bottom, std::uint32_t b) {
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                         : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                         : "r"(top), "r"(bottom), "r"(b));
        };
        half(a[0], a[1], b0);
        half(a[2], a[3], b1);
    }
#endif
}

/// What becomes of the sums: `c = alpha sum + beta c`.
struct Scaling
{
    float alpha, beta;
};

//! [mma_sync]
/// Tensor cores multiply what `ldmatrix` brings from shared memory, where asynchronous copies put
/// the next tiles meanwhile. Rows of b lie along columns of c, and are transposed on the way into
/// registers. Where tiles are `whole`, nothing asks for edges.
template <class T, bool whole>
__global__ void __launch_bounds__(threads, 2)
    mma_sync(View<T const> a, View<T const> b, View<T> c, Scaling scaling, int tiles_down,
             int tiles_across)
{
    constexpr int pieces_i = 4;
    constexpr int pieces_j = 8;
    constexpr int wide = Pack<T>::size;
    constexpr int packs_a = depth_of_block / wide;
    constexpr int packs_b = columns_of_block / wide;
    T* const tiles_a = shared_memory<T>();
    T* const tiles_b = tiles_a + stages * elements_a;
    Place const place = place_in_patch(blockIdx.x, tiles_down, tiles_across);
    int const i0 = place.i * rows_of_block;
    int const j0 = place.j * columns_of_block;
    auto const fetch = [&](int stage, int k0) {
        if (k0 < a.columns) {
#pragma unroll
            for (int e = threadIdx.x; e < rows_of_block * packs_a; e += threads) {
                int const i = e / packs_a;
                int const k = e % packs_a * wide;
                T* const to = tiles_a + stage * elements_a + i * stride_a + k;
                copy_pack<whole>(reinterpret_cast<Pack<T>*>(to), a, i0 + i, k0 + k);
            }
#pragma unroll
            for (int e = threadIdx.x; e < depth_of_block * packs_b; e += threads) {
                int const k = e / packs_b;
                int const j = e % packs_b * wide;
                T* const to = tiles_b + stage * elements_b + k * stride_b + j;
                copy_pack<whole>(reinterpret_cast<Pack<T>*>(to), b, k0 + k, j0 + j);
            }
        }
        __pipeline_commit();
    };
    int const warp = threadIdx.x / 32;
    int const iw = warp % 2 * 64;
    int const jw = warp / 2 * 64;
    float sum[pieces_i][pieces_j][4] = {};
#pragma unroll
    for (int stage = 0; stage < stages - 1; ++stage) {
        fetch(stage, stage * depth_of_block);
    }
    int stage = 0;
    for (int k0 = 0; k0 < a.columns; k0 += depth_of_block) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        fetch(stage == 0 ? stages - 1 : stage - 1, k0 + (stages - 1) * depth_of_block);
        T const* const tile_a = tiles_a + stage * elements_a + iw * stride_a;
        T const* const tile_b = tiles_b + stage * elements_b + jw;
#pragma unroll
        for (int k = 0; k < depth_of_block; k += 16) {
            std::uint32_t of_a[pieces_i][4];
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
                load_squares<false, stride_a>(of_a[i], tile_a + i * 16 * stride_a + k);
            }
#pragma unroll
            for (int j = 0; j < pieces_j; j += 2) {
                std::uint32_t of_b[4];
                load_squares<true, stride_b>(of_b, tile_b + k * stride_b + j * 8);
#pragma unroll
                for (int i = 0; i < pieces_i; ++i) {
                    multiply<T>(sum[i][j], of_a[i], of_b[0], of_b[1]);
                    multiply<T>(sum[i][j + 1], of_a[i], of_b[2], of_b[3]);
                }
            }
        }
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
    int const row = threadIdx.x % 32 / 4; // of the lane in a piece
    int const column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
        for (int j = 0; j < pieces_j; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int const to_i = i0 + iw + i * 16 + row + e / 2 * 8;
                int const to_j = j0 + jw + j * 8 + column + e % 2;
                if (whole || (to_i < c.rows && to_j < c.columns)) {
                    T& to = c.data[to_i * c.stride + to_j];
                    narrow(scaled(scaling.alpha, sum[i][j][e], scaling.beta, to), to);
                }
            }
        }
    }
}
//! [mma_sync]

} // namespace

template <class T>
void multiply_by_mma(double alpha, Matrix<T const> a, Matrix<T const> b, double beta, Matrix<T> c,
                     cuda::Stream const& stream)
{
    bool const whole = has_whole_tiles(a, b, rows_of_block, columns_of_block, depth_of_block);
    auto const kernel = whole ? mma_sync<T, true> : mma_sync<T, false>;
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    auto const down = ceil_div(c.rows, rows_of_block);
    auto const across = ceil_div(c.columns, columns_of_block);
    kernel<<<static_cast<unsigned>(down * across), threads, bytes, stream.get()>>>(
        view_of(a), view_of(b), view_of(c),
        Scaling{static_cast<float>(alpha), static_cast<float>(beta)}, static_cast<int>(down),
        static_cast<int>(across));
    cuda::check_launch();
}

template <class T>
std::string_view refuses_mma(Matrix<T const> const&, Matrix<T const> const&, Matrix<T> const&)
{
    return std::is_same_v<T, base::bf16>
               ? refusal_before(80, "this GPU's tensor cores do not know bf16")
               : refusal_before(75, "this GPU's tensor cores cannot be used by hand");
}

#define INSTANTIATE(T)                                                                             \
    template void multiply_by_mma(double, Matrix<T const>, Matrix<T const>, double, Matrix<T>,     \
                                  cuda::Stream const&);                                            \
    template std::string_view refuses_mma(Matrix<T const> const&, Matrix<T const> const&,          \
                                          Matrix<T> const&)
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace dense::gpu
