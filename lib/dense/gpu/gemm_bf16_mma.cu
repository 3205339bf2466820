#include "dense/gpu/gemm_bf16.cuh"

#include "cuda/error.hpp"

namespace dense::gpu {

namespace {

// Each of the 4 warps of a block makes 64 x 64 elements of c, in pieces of 16 x 8.
constexpr int threads = 128;
constexpr int side_of_warp = 64;
constexpr int pieces_i = side_of_warp / 16;
constexpr int pieces_j = side_of_warp / 8;
constexpr int stages = 3;
constexpr int packs_of_stage = rows_of_block * packs_a + depth_of_block * packs_b;

/// `sum += a b` of 16 x 16 and 16 x 8 elements. Lane l has elements 2 (l % 4) and the one after it:
/// of `a` in rows l / 4 and l / 4 + 8, then eight columns further on; of `b` in column l / 4, first
/// and second half of the depth; of `sum` in rows l / 4 and l / 4 + 8. PTX ISA, Matrix Fragments
/// for mma.m16n8k16 with floating point type.
__device__ void multiply(float (&sum)[4], std::uint32_t const (&a)[4], std::uint32_t b0,
                         std::uint32_t b1)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    __trap(); // refuses_bf16 keeps older GPUs from here
#endif
}

/// Four squares of 8 x 8 elements by `ldmatrix`: lane l says where row l % 8 of square l / 8 lies,
/// and gets of each square elements 2 (l % 4) and the one after it of row l / 4, or of column l / 4
/// if `transposed`. PTX ISA, ldmatrix.
template <bool transposed>
__device__ void load_squares(std::uint32_t (&square)[4], Pack<bf16> const* row)
{
    auto const from = static_cast<unsigned>(__cvta_generic_to_shared(row));
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

//! [bf16_mma]
/// Tensor cores multiply pieces that the lanes of a warp hold in registers. Each lane loads its
/// elements from tiles in shared memory: of a two neighbours of a row at once, of b one by one, as
/// two that belong together stand in two rows.
__global__ void __launch_bounds__(threads, 2)
    bf16_mma(View<bf16 const> a, View<bf16 const> b, View<bf16> c)
{
    Pack<bf16>* const tile_a = shared_memory<Pack<bf16>>();
    Pack<bf16>* const tile_b = tile_a + rows_of_block * packs_a;
    int const tiles_down = static_cast<int>(ceil_div(c.rows, rows_of_block));
    int const i0 = blockIdx.x % tiles_down * rows_of_block;
    int const j0 = blockIdx.x / tiles_down * columns_of_block;
    // What this thread loads: a pack of every so manyth row of both tiles.
    int const row_a = threadIdx.x / packs_a, pack_a = threadIdx.x % packs_a;
    int const row_b = threadIdx.x / packs_b, pack_b = threadIdx.x % packs_b;
    bf16 const* from_a = a.data + (i0 + row_a) * a.stride + pack_a * wide;
    bf16 const* from_b = b.data + row_b * b.stride + j0 + pack_b * wide;
    Pack<bf16>* const to_a = tile_a + row_a * packs_a + pack_a;
    Pack<bf16>* const to_b = tile_b + row_b * packs_b + pack_b;
    int const iw = threadIdx.x / 32 % 2 * side_of_warp;
    int const jw = threadIdx.x / 64 * side_of_warp;
    int const row = threadIdx.x % 32 / 4; // of the lane in a piece
    int const pair = threadIdx.x % 4 * 2;
    float sum[pieces_i][pieces_j][4] = {};
    for (int k0 = 0; k0 < a.columns; k0 += depth_of_block) {
#pragma unroll
        for (int i = 0; i < rows_of_block; i += threads / packs_a) {
            load_pack(&to_a[i * packs_a], from_a + i * a.stride,
                      i0 + row_a + i < a.rows && k0 + pack_a * wide < a.columns);
        }
#pragma unroll
        for (int k = 0; k < depth_of_block; k += threads / packs_b) {
            load_pack(&to_b[k * packs_b], from_b + k * b.stride,
                      k0 + row_b + k < b.rows && j0 + pack_b * wide < b.columns);
        }
        from_a += depth_of_block;
        from_b += depth_of_block * b.stride;
        __syncthreads();
        auto const* const in_a =
            reinterpret_cast<bf16 const*>(tile_a) + (iw + row) * depth_of_block + pair;
        auto const* const in_b =
            reinterpret_cast<bf16 const*>(tile_b) + pair * columns_of_block + jw + row;
#pragma unroll
        for (int k = 0; k < depth_of_block; k += 16) {
            std::uint32_t of_a[pieces_i][4];
            std::uint32_t of_b[pieces_j][2];
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    of_a[i][e] = *reinterpret_cast<std::uint32_t const*>(
                        in_a + (i * 16 + e % 2 * 8) * depth_of_block + k + e / 2 * 8);
                }
            }
#pragma unroll
            for (int j = 0; j < pieces_j; ++j) {
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    bf16 const* const two = in_b + (k + e * 8) * columns_of_block + j * 8;
                    of_b[j][e] = two[0].bits | std::uint32_t{two[columns_of_block].bits} << 16;
                }
            }
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
                for (int j = 0; j < pieces_j; ++j) {
                    multiply(sum[i][j], of_a[i], of_b[j][0], of_b[j][1]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
        for (int j = 0; j < pieces_j; ++j) {
            int const to_i = i0 + iw + i * 16 + row;
            int const to_j = j0 + jw + j * 8 + pair;
            store_pair(c, to_i, to_j, sum[i][j][0], sum[i][j][1]);
            store_pair(c, to_i + 8, to_j, sum[i][j][2], sum[i][j][3]);
        }
    }
}
//! [bf16_mma]

//! [bf16_ldmatrix]
/// One instruction brings four squares of 8 x 8 to where tensor cores want them, those of b
/// transposed on the way. It reads rows of 16 bytes, which exclusive or spreads over the banks.
__global__ void __launch_bounds__(threads, 2)
    bf16_ldmatrix(View<bf16 const> a, View<bf16 const> b, View<bf16> c)
{
    Pack<bf16>* const tile_a = shared_memory<Pack<bf16>>();
    Pack<bf16>* const tile_b = tile_a + rows_of_block * packs_a;
    int const tiles_down = static_cast<int>(ceil_div(c.rows, rows_of_block));
    int const i0 = blockIdx.x % tiles_down * rows_of_block;
    int const j0 = blockIdx.x / tiles_down * columns_of_block;
    // What this thread loads: a pack of every so manyth row of both tiles.
    int const row_a = threadIdx.x / packs_a, pack_a = threadIdx.x % packs_a;
    int const row_b = threadIdx.x / packs_b, pack_b = threadIdx.x % packs_b;
    bf16 const* from_a = a.data + (i0 + row_a) * a.stride + pack_a * wide;
    bf16 const* from_b = b.data + row_b * b.stride + j0 + pack_b * wide;
    Pack<bf16>* const to_a = tile_a + swizzled<packs_a>(row_a, pack_a);
    Pack<bf16>* const to_b = tile_b + swizzled<packs_b>(row_b, pack_b);
    int const iw = threadIdx.x / 32 % 2 * side_of_warp;
    int const jw = threadIdx.x / 64 * side_of_warp;
    int const row = threadIdx.x % 32 / 4; // of the lane in a piece
    int const pair = threadIdx.x % 4 * 2;
    int const row_of_squares = threadIdx.x % 16; // that the lane points at
    int const pack_of_squares = threadIdx.x % 32 / 16;
    float sum[pieces_i][pieces_j][4] = {};
    for (int k0 = 0; k0 < a.columns; k0 += depth_of_block) {
#pragma unroll
        for (int i = 0; i < rows_of_block; i += threads / packs_a) {
            load_pack(&to_a[i * packs_a], from_a + i * a.stride,
                      i0 + row_a + i < a.rows && k0 + pack_a * wide < a.columns);
        }
#pragma unroll
        for (int k = 0; k < depth_of_block; k += threads / packs_b) {
            load_pack(&to_b[k * packs_b], from_b + k * b.stride,
                      k0 + row_b + k < b.rows && j0 + pack_b * wide < b.columns);
        }
        from_a += depth_of_block;
        from_b += depth_of_block * b.stride;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < depth_of_block; k += 16) {
            std::uint32_t of_a[pieces_i][4];
            std::uint32_t of_b[pieces_j / 2][4];
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
                load_squares<false>(of_a[i],
                                    tile_a + swizzled<packs_a>(iw + i * 16 + row_of_squares,
                                                               k / wide + pack_of_squares));
            }
#pragma unroll
            for (int j = 0; j < pieces_j / 2; ++j) {
                load_squares<true>(of_b[j],
                                   tile_b + swizzled<packs_b>(k + row_of_squares,
                                                              jw / wide + j * 2 + pack_of_squares));
            }
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
                for (int j = 0; j < pieces_j; ++j) {
                    multiply(sum[i][j], of_a[i], of_b[j / 2][j % 2 * 2],
                             of_b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
        for (int j = 0; j < pieces_j; ++j) {
            int const to_i = i0 + iw + i * 16 + row;
            int const to_j = j0 + jw + j * 8 + pair;
            store_pair(c, to_i, to_j, sum[i][j][0], sum[i][j][1]);
            store_pair(c, to_i + 8, to_j, sum[i][j][2], sum[i][j][3]);
        }
    }
}
//! [bf16_ldmatrix]

//! [bf16_stages]
/// While one pair of tiles is multiplied, the next two are on their way.
__global__ void __launch_bounds__(threads, 2)
    bf16_stages(View<bf16 const> a, View<bf16 const> b, View<bf16> c)
{
    int const tiles_down = static_cast<int>(ceil_div(c.rows, rows_of_block));
    int const i0 = blockIdx.x % tiles_down * rows_of_block;
    int const j0 = blockIdx.x / tiles_down * columns_of_block;
    // What this thread loads: a pack of every so manyth row of both tiles.
    int const row_a = threadIdx.x / packs_a, pack_a = threadIdx.x % packs_a;
    int const row_b = threadIdx.x / packs_b, pack_b = threadIdx.x % packs_b;
    bf16 const* from_a = a.data + (i0 + row_a) * a.stride + pack_a * wide;
    bf16 const* from_b = b.data + row_b * b.stride + j0 + pack_b * wide;
    int const iw = threadIdx.x / 32 % 2 * side_of_warp;
    int const jw = threadIdx.x / 64 * side_of_warp;
    int const row = threadIdx.x % 32 / 4; // of the lane in a piece
    int const pair = threadIdx.x % 4 * 2;
    int const row_of_squares = threadIdx.x % 16; // that the lane points at
    int const pack_of_squares = threadIdx.x % 32 / 16;
    auto const fetch = [&](int stage, int k0) {
        Pack<bf16>* const tile_a = shared_memory<Pack<bf16>>() + stage * packs_of_stage;
        Pack<bf16>* const tile_b = tile_a + rows_of_block * packs_a;
        Pack<bf16>* const to_a = tile_a + swizzled<packs_a>(row_a, pack_a);
        Pack<bf16>* const to_b = tile_b + swizzled<packs_b>(row_b, pack_b);
        if (k0 < a.columns) {
#pragma unroll
            for (int i = 0; i < rows_of_block; i += threads / packs_a) {
                copy_pack(&to_a[i * packs_a], from_a + i * a.stride,
                          i0 + row_a + i < a.rows && k0 + pack_a * wide < a.columns);
            }
#pragma unroll
            for (int k = 0; k < depth_of_block; k += threads / packs_b) {
                copy_pack(&to_b[k * packs_b], from_b + k * b.stride,
                          k0 + row_b + k < b.rows && j0 + pack_b * wide < b.columns);
            }
            from_a += depth_of_block;
            from_b += depth_of_block * b.stride;
        }
        __pipeline_commit();
    };
    float sum[pieces_i][pieces_j][4] = {};
    for (int stage = 0; stage < stages - 1; ++stage) {
        fetch(stage, stage * depth_of_block);
    }
    int stage = 0;
    for (int k0 = 0; k0 < a.columns; k0 += depth_of_block) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        fetch((stage + stages - 1) % stages, k0 + (stages - 1) * depth_of_block);
        Pack<bf16> const* const tile_a = shared_memory<Pack<bf16>>() + stage * packs_of_stage;
        Pack<bf16> const* const tile_b = tile_a + rows_of_block * packs_a;
#pragma unroll
        for (int k = 0; k < depth_of_block; k += 16) {
            std::uint32_t of_a[pieces_i][4];
            std::uint32_t of_b[pieces_j / 2][4];
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
                load_squares<false>(of_a[i],
                                    tile_a + swizzled<packs_a>(iw + i * 16 + row_of_squares,
                                                               k / wide + pack_of_squares));
            }
#pragma unroll
            for (int j = 0; j < pieces_j / 2; ++j) {
                load_squares<true>(of_b[j],
                                   tile_b + swizzled<packs_b>(k + row_of_squares,
                                                              jw / wide + j * 2 + pack_of_squares));
            }
#pragma unroll
            for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
                for (int j = 0; j < pieces_j; ++j) {
                    multiply(sum[i][j], of_a[i], of_b[j / 2][j % 2 * 2],
                             of_b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
        stage = (stage + 1) % stages;
    }
#pragma unroll
    for (int i = 0; i < pieces_i; ++i) {
#pragma unroll
        for (int j = 0; j < pieces_j; ++j) {
            int const to_i = i0 + iw + i * 16 + row;
            int const to_j = j0 + jw + j * 8 + pair;
            store_pair(c, to_i, to_j, sum[i][j][0], sum[i][j][1]);
            store_pair(c, to_i + 8, to_j, sum[i][j][2], sum[i][j][3]);
        }
    }
}
//! [bf16_stages]

template <auto kernel, int stages>
void launch(Matrix<bf16 const> a, Matrix<bf16 const> b, Matrix<bf16> c, cuda::Stream const& stream)
{
    constexpr int bytes = stages * packs_of_stage * static_cast<int>(sizeof(Pack<bf16>));
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    auto const tiles = ceil_div(c.rows, rows_of_block) * ceil_div(c.columns, columns_of_block);
    kernel<<<static_cast<unsigned>(tiles), threads, bytes, stream.get()>>>(view_of(a), view_of(b),
                                                                           view_of(c));
    cuda::check_launch();
}

std::string_view refuses_bf16(Matrix<bf16 const> const& a, Matrix<bf16 const> const& b,
                              Matrix<bf16> const& c)
{
    auto const old = refusal_before(80, "this GPU's tensor cores do not know bf16");
    return old.empty() ? refuses_rows(a, b, c) : old;
}

} // namespace

std::vector<Step<bf16>> bf16_gemm_steps()
{
    std::vector<Step<bf16>> steps{{"bf16_mma", launch<bf16_mma, 1>, refuses_bf16},
                                  {"bf16_ldmatrix", launch<bf16_ldmatrix, 1>, refuses_bf16},
                                  {"bf16_stages", launch<bf16_stages, stages>, refuses_bf16}};
    for (auto const& step : hopper_steps()) {
        steps.push_back(step);
    }
    return steps;
}

} // namespace dense::gpu
