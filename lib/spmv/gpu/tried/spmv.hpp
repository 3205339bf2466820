#pragma once

#include <cstdint>

/// How the kernel is launched: so many threads in each block, and blocks enough for all rows if
/// each does so many. Define both in your file.
extern "C" __constant__ int threads_per_block;
extern "C" __constant__ int rows_per_block;

/// y = A x on the GPU. The matrix is in compressed sparse rows: row `i` holds the entries
/// `row_ptr[i] <= p < row_ptr[i + 1]`, in the columns `col[p]`, ascending, with the values
/// `values[p]`. `x` has `columns` elements, `y` has `rows`; what `y` holds before is no number.
extern "C" __global__ void spmv(std::int32_t rows, std::int32_t columns,
                                std::int32_t const* row_ptr, std::int32_t const* col,
                                double const* values, double const* x, double* y);
