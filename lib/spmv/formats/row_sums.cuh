#pragma once

#include "spmv/device/threads.cuh"

namespace spmv::gpu {

/// Elements of shared memory that sums get at least, so that there is room for copies.
inline constexpr std::size_t least_row_sums = 8192;

/// Sums of the rows of a tile in shared memory, to which the `threads` of a block add in no order.
/// An addition is a loop until no other thread was in between; where a tile has few rows, because
/// they are long, each has as many copies as there is room for, so that threads seldom meet.
template <class T, int threads>
class RowSums
{
public:
    /// Sets all sums to 0, that of the row behind the last among them; there is room for `capacity`
    /// elements, at least `rows + 1`.
    __device__ RowSums(T* memory, int capacity, int rows)
        : sum_{memory}, rows_{rows}, copies_log2_{0}
    {
        while (1 << copies_log2_ < threads && (rows + 1) << (copies_log2_ + 1) <= capacity) {
            ++copies_log2_;
        }
        for (int i = threadIdx.x; i < (rows + 1) << copies_log2_; i += threads) {
            sum_[i] = 0;
        }
        __syncthreads();
    }

    __device__ void add(int row, T value)
    {
        int const copy = threadIdx.x & ((1 << copies_log2_) - 1);
        atomicAdd(sum_ + (row << copies_log2_) + copy, value);
    }

    /// Writes the sums of all rows to `y`.
    __device__ void write(T* __restrict__ y)
    {
        __syncthreads();
        int const copies = 1 << copies_log2_;
        if (copies < warp) {
            for (int row = threadIdx.x; row < rows_; row += threads) {
                T total = 0;
                for (int copy = 0; copy < copies; ++copy) {
                    total += sum_[(row << copies_log2_) + copy];
                }
                y[row] = total;
            }
            return;
        }
        for (int row = threadIdx.x / warp; row < rows_; row += threads / warp) {
            T total = 0;
            for (int copy = threadIdx.x % warp; copy < copies; copy += warp) {
                total += sum_[(row << copies_log2_) + copy];
            }
            total = sum_of_lanes<warp>(total);
            if (threadIdx.x % warp == 0) {
                y[row] = total;
            }
        }
    }

private:
    T* sum_;
    int rows_;
    int copies_log2_;
};

} // namespace spmv::gpu
