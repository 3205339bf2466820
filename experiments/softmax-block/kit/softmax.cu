#include "softmax.hpp"

/// BEGIN SOLUTION
__constant__ int threads_per_block = 256;
__constant__ int rows_per_block = 8;

namespace {

constexpr int warps = 8;
constexpr int kept = 32; ///< elements of a row that a thread keeps in registers
constexpr std::int32_t row_of_warp = 32 * kept;
constexpr std::int32_t row_of_block = 32 * warps * kept;

struct Sum
{
    __device__ static float of(float a, float b) { return a + b; }
};

struct Most
{
    static constexpr float nothing = -3.4e38F;
    __device__ static float of(float a, float b) { return max(a, b); }
};

/// Who works on a row together: the threads of a warp, or all of a block.
template <bool whole_block>
struct Team
{
    static constexpr std::int32_t size = whole_block ? 32 * warps : 32;

    __device__ static std::int32_t member()
    {
        return static_cast<std::int32_t>(threadIdx.x) % size;
    }

    /// What all members have, reduced; each of them gets it.
    template <class Reduction>
    __device__ static float reduced(float mine)
    {
#pragma unroll
        for (int other = 16; other > 0; other /= 2) {
            mine = Reduction::of(mine, __shfl_xor_sync(~0U, mine, other));
        }
        if constexpr (whole_block) {
            __shared__ float of_warp[warps];
            __syncthreads(); // the last row has been read
            if (threadIdx.x % 32 == 0) {
                of_warp[threadIdx.x / 32] = mine;
            }
            __syncthreads();
            mine = of_warp[0];
#pragma unroll
            for (int other = 1; other < warps; ++other) {
                mine = Reduction::of(mine, of_warp[other]);
            }
        }
        return mine;
    }
};

template <bool whole_block>
__device__ void sum_row(std::int32_t columns, float const* row, float* y)
{
    using Team = Team<whole_block>;
    float sums[4] = {};
    auto p = Team::member();
    for (; p + 3 * Team::size < columns; p += 4 * Team::size) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            sums[s] += __ldcs(row + p + s * Team::size);
        }
    }
    for (; p < columns; p += Team::size) {
        sums[0] += __ldcs(row + p);
    }
    auto const sum = Team::template reduced<Sum>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (Team::member() == 0) {
        *y = sum;
    }
}

/// A row that fits the registers is read once.
template <bool whole_block>
__device__ void softmax_in_registers(std::int32_t columns, float const* row, float* y)
{
    using Team = Team<whole_block>;
    float some[kept];
    float most = Most::nothing;
#pragma unroll
    for (int s = 0; s < kept; ++s) {
        auto const p = Team::member() + s * Team::size;
        some[s] = p < columns ? __ldcs(row + p) : Most::nothing;
        most = max(most, some[s]);
    }
    most = Team::template reduced<Most>(most);
    float sum = 0;
#pragma unroll
    for (int s = 0; s < kept; ++s) {
        some[s] = __expf(some[s] - most); // 0 behind the end of the row
        sum += some[s];
    }
    auto const factor = 1 / Team::template reduced<Sum>(sum);
#pragma unroll
    for (int s = 0; s < kept; ++s) {
        auto const p = Team::member() + s * Team::size;
        if (p < columns) {
            __stcs(y + p, some[s] * factor);
        }
    }
}

/// A longer one is read twice: the largest number and the sum are found in one pass.
__device__ void softmax_of_long_row(std::int32_t columns, float const* row, float* y)
{
    using Team = Team<true>;
    float most = Most::nothing;
    float sum = 0;
    for (auto p = Team::member(); p < columns; p += Team::size) {
        auto const larger = max(most, row[p]);
        sum = sum * __expf(most - larger) + __expf(row[p] - larger);
        most = larger;
    }
    auto const all = Team::reduced<Most>(most);
    auto const factor = 1 / Team::reduced<Sum>(sum * __expf(most - all));
    for (auto p = Team::member(); p < columns; p += Team::size) {
        __stcs(y + p, __expf(row[p] - all) * factor);
    }
}

} // namespace
/// END SOLUTION

/// The sum of each row. naive.cu has one thread for each of them.
__global__ void row_sums(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    /// BEGIN SOLUTION
    auto const first = static_cast<std::int32_t>(blockIdx.x) * warps;
    if (columns <= row_of_warp) {
        auto const i = first + static_cast<std::int32_t>(threadIdx.x) / 32;
        if (i < rows) {
            sum_row<false>(columns, x + std::int64_t{i} * columns, y + i);
        }
        return;
    }
    for (auto i = first; i < min(first + warps, rows); ++i) {
        sum_row<true>(columns, x + std::int64_t{i} * columns, y + i);
    }
    /// END SOLUTION
}

/// The softmax of each row.
__global__ void softmax(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    /// BEGIN SOLUTION
    auto const first = static_cast<std::int32_t>(blockIdx.x) * warps;
    if (columns <= row_of_warp) {
        auto const i = first + static_cast<std::int32_t>(threadIdx.x) / 32;
        if (i < rows) {
            auto const at = std::int64_t{i} * columns;
            softmax_in_registers<false>(columns, x + at, y + at);
        }
        return;
    }
    for (auto i = first; i < min(first + warps, rows); ++i) {
        auto const at = std::int64_t{i} * columns;
        if (columns <= row_of_block) {
            softmax_in_registers<true>(columns, x + at, y + at);
        } else {
            softmax_of_long_row(columns, x + at, y + at);
        }
    }
    /// END SOLUTION
}
