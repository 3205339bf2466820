#include "multiply.hpp"

/// BEGIN SOLUTION
__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 128;
__constant__ int columns_per_block = 128;

namespace {

constexpr int threads = 256;
constexpr int side = 128; ///< rows and columns of C that a block does
constexpr int deep = 16;  ///< columns of A, rows of B that are in shared memory at once
constexpr int each = 8; ///< rows and columns of C that a thread does: four, and four 64 further on
constexpr int loads = side * deep / threads;

/// The tiles of A and B that a block works on, and those that are on their way meanwhile.
struct Tiles
{
    float a[2][deep][side + 4];
    float b[2][deep][side];
};

/// What a thread brings of one tile of A and one of B.
struct Cargo
{
    float a[loads];
    float b[loads];
};

/// Loads what lies within the matrices, zeros beyond.
__device__ Cargo loaded(std::int32_t m, std::int32_t n, std::int32_t k, float const* a,
                        float const* b, std::int32_t top, std::int32_t left, std::int32_t p)
{
    Cargo cargo;
    auto const thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int s = 0; s < loads; ++s) {
        auto const e = thread + s * threads;
        auto const i = top + e / deep;
        auto const of_a = p + e % deep;
        cargo.a[s] = i < m && of_a < k ? a[i * k + of_a] : 0;
        auto const of_b = p + e / side;
        auto const j = left + e % side;
        cargo.b[s] = of_b < k && j < n ? b[of_b * n + j] : 0;
    }
    return cargo;
}

__device__ void store(Tiles& tiles, int which, Cargo const& cargo)
{
    auto const thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int s = 0; s < loads; ++s) {
        auto const e = thread + s * threads;
        tiles.a[which][e % deep][e / deep] = cargo.a[s];
        tiles.b[which][e / side][e % side] = cargo.b[s];
    }
}

/// Eight elements of a row of a tile: four from `first` on, and four 64 further on.
__device__ void take(float (&to)[each], float const* row, int first)
{
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<float4 const*>(row + first);
    *reinterpret_cast<float4*>(to + 4) = *reinterpret_cast<float4 const*>(row + 64 + first);
}

} // namespace
/// END SOLUTION

/// C = A B on the GPU. naive.cu has one thread for each element of C.
__global__ void __launch_bounds__(256, 2) multiply(std::int32_t m, std::int32_t n, std::int32_t k,
                                                   float const* a, float const* b, float* c)
{
    /// BEGIN SOLUTION
    __shared__ __align__(16) Tiles tiles;
    auto const top = static_cast<std::int32_t>(blockIdx.x) * side;
    auto const left = static_cast<std::int32_t>(blockIdx.y) * side;
    auto const row = static_cast<int>(threadIdx.x) / 16 * 4;
    auto const column = static_cast<int>(threadIdx.x) % 16 * 4;
    float sums[each][each] = {};
    int which = 0;
    store(tiles, which, loaded(m, n, k, a, b, top, left, 0));
    __syncthreads();
    for (std::int32_t p = 0; p < k; p += deep) {
        auto const next = loaded(m, n, k, a, b, top, left, p + deep);
#pragma unroll
        for (int q = 0; q < deep; ++q) {
            float of_a[each];
            float of_b[each];
            take(of_a, tiles.a[which][q], row);
            take(of_b, tiles.b[which][q], column);
#pragma unroll
            for (int r = 0; r < each; ++r) {
#pragma unroll
                for (int s = 0; s < each; ++s) {
                    sums[r][s] += of_a[r] * of_b[s];
                }
            }
        }
        which = 1 - which;
        store(tiles, which, next);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < each; ++r) {
#pragma unroll
        for (int s = 0; s < each; ++s) {
            auto const i = top + row + r % 4 + r / 4 * 64;
            auto const j = left + column + s % 4 + s / 4 * 64;
            if (i < m && j < n) {
                c[i * n + j] = sums[r][s];
            }
        }
    }
    /// END SOLUTION
}
