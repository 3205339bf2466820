#include "softmax.hpp"

/// BEGIN SOLUTION
__constant__ int threads_per_block = 128;
__constant__ int rows_per_block = 4;

namespace {

constexpr std::int32_t threads = 128;
constexpr int warps = threads / 32;      // and rows of a block
constexpr std::int32_t short_row = 1024; ///< up to which a warp does a row, and a block one beyond
constexpr float nothing = -3e38F;        ///< smaller than every number of a row

struct Sum
{
    __device__ static float of(float a, float b) { return a + b; }
};

struct Most
{
    __device__ static float of(float a, float b) { return max(a, b); }
};

/// The threads of a warp, which work on a row of their own.
struct Warp
{
    static constexpr std::int32_t size = 32;
    __device__ std::int32_t member() const { return static_cast<std::int32_t>(threadIdx.x) % size; }

    /// What all of them have, reduced; each of them gets it.
    template <class Reduction>
    __device__ float reduced(float mine, int) const
    {
#pragma unroll
        for (int other = 16; other > 0; other /= 2) {
            mine = Reduction::of(mine, __shfl_xor_sync(~0U, mine, other));
        }
        return mine;
    }
};

/// All threads of a block, which work on one row after the other.
struct Block
{
    static constexpr std::int32_t size = threads;
    float (&places)[2][warps]; ///< shared memory
    __device__ std::int32_t member() const { return static_cast<std::int32_t>(threadIdx.x); }

    /// As above. Reductions that follow each other use both places in turn: then one barrier is
    /// enough, as who is behind it has read what the reduction before the last one left.
    template <class Reduction>
    __device__ float reduced(float mine, int place) const
    {
        mine = Warp{}.reduced<Reduction>(mine, 0);
        if (threadIdx.x % 32 == 0) {
            places[place][threadIdx.x / 32] = mine;
        }
        __syncthreads();
        mine = places[place][0];
#pragma unroll
        for (int other = 1; other < warps; ++other) {
            mine = Reduction::of(mine, places[place][other]);
        }
        return mine;
    }
};

template <class Team>
__device__ void sum_row(Team const& team, std::int32_t columns, float const* row, float* y,
                        int place)
{
    float sum = 0;
#pragma unroll 8
    for (auto p = team.member(); p < columns; p += Team::size) {
        sum += __ldcs(row + p);
    }
    sum = team.template reduced<Sum>(sum, place);
    if (team.member() == 0) {
        *y = sum;
    }
}

/// A row that fits the registers of a team, `kept` numbers of it those of a thread, is read once.
template <int kept, class Team>
__device__ void softmax_in_registers(Team const& team, std::int32_t columns, float const* row,
                                     float* y)
{
    float some[kept];
    float most = nothing;
#pragma unroll
    for (int s = 0; s < kept; ++s) {
        auto const p = team.member() + s * Team::size;
        some[s] = p < columns ? __ldcs(row + p) : nothing;
        most = max(most, some[s]);
    }
    most = team.template reduced<Most>(most, 0);
    float sum = 0;
#pragma unroll
    for (int s = 0; s < kept; ++s) {
        some[s] = __expf(some[s] - most); // 0 behind the end of the row
        sum += some[s];
    }
    auto const factor = 1 / team.template reduced<Sum>(sum, 1);
#pragma unroll
    for (int s = 0; s < kept; ++s) {
        auto const p = team.member() + s * Team::size;
        if (p < columns) {
            __stcs(y + p, some[s] * factor);
        }
    }
}

/// A longer one is read three times, from the cache but for the first; several loads are under way
/// at once.
__device__ void softmax_of_long_row(Block const& team, std::int32_t columns, float const* row,
                                    float* y)
{
    float most = nothing;
#pragma unroll 8
    for (auto p = team.member(); p < columns; p += Block::size) {
        most = max(most, row[p]);
    }
    most = team.reduced<Most>(most, 0);
    float sum = 0;
#pragma unroll 8
    for (auto p = team.member(); p < columns; p += Block::size) {
        sum += __expf(row[p] - most);
    }
    auto const factor = 1 / team.reduced<Sum>(sum, 1);
#pragma unroll 8
    for (auto p = team.member(); p < columns; p += Block::size) {
        __stcs(y + p, __expf(row[p] - most) * factor);
    }
}

} // namespace
/// END SOLUTION

/// The sum of each row. naive.cu has one thread for each of them.
__global__ void row_sums(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    /// BEGIN SOLUTION
    __shared__ float places[2][warps];
    auto const first = static_cast<std::int32_t>(blockIdx.x) * warps;
    if (columns <= short_row) {
        auto const i = first + static_cast<std::int32_t>(threadIdx.x) / 32;
        if (i < rows) {
            sum_row(Warp{}, columns, x + std::int64_t{i} * columns, y + i, 0);
        }
        return;
    }
    for (auto i = first; i < min(first + warps, rows); ++i) {
        sum_row(Block{places}, columns, x + std::int64_t{i} * columns, y + i, i % 2);
    }
    /// END SOLUTION
}

/// The softmax of each row.
__global__ void __launch_bounds__(128, 7)
    softmax(std::int32_t rows, std::int32_t columns, float const* x, float* y)
{
    /// BEGIN SOLUTION
    __shared__ float places[2][warps];
    auto const first = static_cast<std::int32_t>(blockIdx.x) * warps;
    if (columns <= short_row) {
        auto const i = first + static_cast<std::int32_t>(threadIdx.x) / 32;
        auto const at = std::int64_t{i} * columns;
        if (i < rows && columns <= 12 * Warp::size) {
            softmax_in_registers<12>(Warp{}, columns, x + at, y + at);
        } else if (i < rows) {
            softmax_in_registers<32>(Warp{}, columns, x + at, y + at);
        }
        return;
    }
    Block const block{places};
    for (auto i = first; i < min(first + warps, rows); ++i) {
        auto const at = std::int64_t{i} * columns;
        if (columns <= 24 * Block::size) {
            softmax_in_registers<24>(block, columns, x + at, y + at);
        } else if (columns <= 42 * Block::size) {
            softmax_in_registers<42>(block, columns, x + at, y + at);
        } else {
            softmax_of_long_row(block, columns, x + at, y + at);
        }
    }
    /// END SOLUTION
}
