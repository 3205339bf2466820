#include "multiply.hpp"

__constant__ int threads_per_block = 1024;
__constant__ int rows_per_block = 32;
__constant__ int columns_per_block = 32;

/// A first idea: a block keeps a tile of A and one of B in shared memory, where each element is
/// loaded once and used 32 times.
__global__ void multiply(std::int32_t m, std::int32_t n, std::int32_t k, float const* a,
                         float const* b, float* c)
{
    constexpr int side = 32;
    __shared__ float tile_a[side][side];
    __shared__ float tile_b[side][side];
    auto const row = static_cast<int>(threadIdx.x) / side;
    auto const column = static_cast<int>(threadIdx.x) % side;
    auto const i = static_cast<std::int32_t>(blockIdx.x) * side + row;
    auto const j = static_cast<std::int32_t>(blockIdx.y) * side + column;
    float sum = 0;
    for (std::int32_t p = 0; p < k; p += side) {
        tile_a[row][column] = i < m && p + column < k ? a[i * k + p + column] : 0;
        tile_b[row][column] = p + row < k && j < n ? b[(p + row) * n + j] : 0;
        __syncthreads();
        for (int q = 0; q < side; ++q) {
            sum += tile_a[row][q] * tile_b[q][column];
        }
        __syncthreads();
    }
    if (i < m && j < n) {
        c[i * n + j] = sum;
    }
}
