#include "dense/gpu/tile.cuh"

#include "cuda/error.hpp"

#include <cuda_bf16.h>
#include <mma.h>

#include <type_traits>

namespace dense::gpu {

namespace {

namespace wmma = nvcuda::wmma;

// A block of 8 warps makes 128 x 128 elements of c; each warp 64 x 32 of them.
constexpr int rows_of_block = 128;
constexpr int columns_of_block = 128;
constexpr int depth_of_block = 32;
[[maybe_unused]] constexpr int rows_of_warp = 64;
[[maybe_unused]] constexpr int columns_of_warp = 32;
constexpr int side = 16; // of a fragment of c
constexpr int gap = 8;   // elements behind each row of a tile, against bank conflicts

/// How products are made.
enum class Way
{
    tf32,
    three_tf32,
    bf16
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <Way way>
using Element = std::conditional_t<way == Way::bf16, __nv_bfloat16, float>;

template <Way way>
using Sum =
    std::conditional_t<way == Way::bf16, wmma::fragment<wmma::accumulator, side, side, side, float>,
                       wmma::fragment<wmma::accumulator, side, side, 8, float>>;

template <Way way, class Use>
using Fragment =
    std::conditional_t<way == Way::bf16,
                       wmma::fragment<Use, side, side, side, __nv_bfloat16, wmma::row_major>,
                       wmma::fragment<Use, side, side, 8, wmma::precision::tf32, wmma::row_major>>;

/// Splits numbers into what TF32 keeps of them, and what that leaves.
template <class Tf32>
__device__ void split(Tf32& whole, Tf32& rest)
{
#pragma unroll
    for (int e = 0; e < whole.num_elements; ++e) {
        float const value = whole.x[e];
        whole.x[e] = wmma::__float_to_tf32(value);
        rest.x[e] = wmma::__float_to_tf32(value - whole.x[e]);
    }
}

template <class Tf32>
__device__ void round_to_tf32(Tf32& numbers)
{
#pragma unroll
    for (int e = 0; e < numbers.num_elements; ++e) {
        numbers.x[e] = wmma::__float_to_tf32(numbers.x[e]);
    }
}

//! [tensor_tiles]
/// Tensor cores multiply tiles that the block holds in shared memory. With three products of TF32,
/// a and b are each the sum of two numbers of TF32, and only the product of both rests is left out.
template <Way way>
__global__ void __launch_bounds__(256)
    tensor_tiles(float const* a, float const* b, float* c, int rows, int columns, int depth,
                 bool aligned_a, bool aligned_b)
{
    using T = Element<way>;
    constexpr int step = way == Way::bf16 ? 16 : 8;
    constexpr int stride_a = depth_of_block + gap;
    constexpr int stride_b = columns_of_block + gap;
    constexpr int fragments_i = rows_of_warp / side;
    constexpr int fragments_j = columns_of_warp / side;
    T* const tile_a = shared_memory<T>();
    T* const tile_b = tile_a + rows_of_block * stride_a;
    int const i0 = blockIdx.y * rows_of_block;
    int const j0 = blockIdx.x * columns_of_block;
    int const warp = threadIdx.x / 32;
    int const iw = warp % 2 * rows_of_warp;
    int const jw = warp / 2 * columns_of_warp;

    Sum<way> sum[fragments_i][fragments_j];
    for (auto& line : sum) {
        for (auto& one : line) {
            wmma::fill_fragment(one, 0.0f);
        }
    }
    for (int k0 = 0; k0 < depth; k0 += depth_of_block) {
        for (int e = threadIdx.x; e < rows_of_block * depth_of_block / 4; e += blockDim.x) {
            int const i = e / (depth_of_block / 4);
            int const k = e % (depth_of_block / 4) * 4;
            auto const pack = load_pack(a, rows, depth, i0 + i, k0 + k, aligned_a);
            for (int n = 0; n < 4; ++n) {
                tile_a[i * stride_a + k + n] = pack.value[n];
            }
        }
        for (int e = threadIdx.x; e < depth_of_block * columns_of_block / 4; e += blockDim.x) {
            int const k = e / (columns_of_block / 4);
            int const j = e % (columns_of_block / 4) * 4;
            auto const pack = load_pack(b, depth, columns, k0 + k, j0 + j, aligned_b);
            for (int n = 0; n < 4; ++n) {
                tile_b[k * stride_b + j + n] = pack.value[n];
            }
        }
        __syncthreads();
        for (int k = 0; k < depth_of_block; k += step) {
            Fragment<way, wmma::matrix_a> of_a[fragments_i];
            Fragment<way, wmma::matrix_a> rest_a[fragments_i];
            Fragment<way, wmma::matrix_b> of_b;
            Fragment<way, wmma::matrix_b> rest_b;
            for (int i = 0; i < fragments_i; ++i) {
                wmma::load_matrix_sync(of_a[i], tile_a + (iw + i * side) * stride_a + k, stride_a);
                if constexpr (way == Way::three_tf32) {
                    split(of_a[i], rest_a[i]);
                } else if constexpr (way == Way::tf32) {
                    round_to_tf32(of_a[i]);
                }
            }
            for (int j = 0; j < fragments_j; ++j) {
                wmma::load_matrix_sync(of_b, tile_b + k * stride_b + jw + j * side, stride_b);
                if constexpr (way == Way::three_tf32) {
                    split(of_b, rest_b);
                } else if constexpr (way == Way::tf32) {
                    round_to_tf32(of_b);
                }
                for (int i = 0; i < fragments_i; ++i) {
                    if constexpr (way == Way::three_tf32) {
                        wmma::mma_sync(sum[i][j], rest_a[i], of_b, sum[i][j]);
                        wmma::mma_sync(sum[i][j], of_a[i], rest_b, sum[i][j]);
                    }
                    wmma::mma_sync(sum[i][j], of_a[i], of_b, sum[i][j]);
                }
            }
        }
        __syncthreads();
    }
    // By shared memory, a fragment at a time, as only there an edge can be cut off.
    float* const place = shared_memory<float>() + warp * side * side;
    for (int i = 0; i < fragments_i; ++i) {
        for (int j = 0; j < fragments_j; ++j) {
            wmma::store_matrix_sync(place, sum[i][j], side, wmma::mem_row_major);
            __syncwarp();
            for (int e = threadIdx.x % 32; e < side * side; e += 32) {
                int const row = i0 + iw + i * side + e / side;
                int const column = j0 + jw + j * side + e % side;
                if (row < rows && column < columns) {
                    c[std::int64_t{row} * columns + column] = place[e];
                }
            }
            __syncwarp();
        }
    }
}
//! [tensor_tiles]
#else
template <Way way>
using Element = std::conditional_t<way == Way::bf16, __nv_bfloat16, float>;

/// Older GPUs have neither of the types: `refuses_old_gpus` keeps them from here.
template <Way way>
__global__ void tensor_tiles(float const*, float const*, float*, int, int, int, bool, bool)
{
    __trap();
}
#endif

template <Way way>
void launch(Matrix<float const> a, Matrix<float const> b, Matrix<float> c,
            cuda::Stream const& stream)
{
    constexpr int elements =
        rows_of_block * (depth_of_block + gap) + depth_of_block * (columns_of_block + gap);
    constexpr int bytes = elements * static_cast<int>(sizeof(Element<way>));
    static_assert(bytes >= 8 * side * side * static_cast<int>(sizeof(float)));
    auto const kernel = tensor_tiles<way>;
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    dim3 const grid(static_cast<unsigned>(ceil_div(c.columns, columns_of_block)),
                    static_cast<unsigned>(ceil_div(c.rows, rows_of_block)));
    kernel<<<grid, 256, bytes, stream.get()>>>(
        a.data, b.data, c.data, static_cast<int>(c.rows), static_cast<int>(c.columns),
        static_cast<int>(a.columns), has_aligned_rows(a.data, a.columns),
        has_aligned_rows(b.data, b.columns));
    cuda::check_launch();
}

std::string_view refuses_old_gpus(Matrix<float const> const& a, Matrix<float const> const& b,
                                  Matrix<float> const& c)
{
    auto const refusal = refusal_before(80, "this GPU's tensor cores know neither TF32 nor bf16");
    return refusal.empty() ? refuses_gaps(a, b, c) : refusal;
}

} // namespace

std::vector<Step<float>> tensor_gemm_steps()
{
    std::vector<Step<float>> steps{{"tensor_tf32", launch<Way::tf32>, refuses_old_gpus},
                                   {"tensor_3xtf32", launch<Way::three_tf32>, refuses_old_gpus},
                                   {"tensor_bf16", launch<Way::bf16>, refuses_old_gpus}};
    for (auto const& more : {fragment_steps(), wgmma_steps()}) {
        steps.insert(steps.end(), more.begin(), more.end());
    }
    return steps;
}

} // namespace dense::gpu
