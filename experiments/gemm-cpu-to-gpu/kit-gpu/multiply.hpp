#pragma once

#include <cstdint>

/// How the grader launches your kernel: so many threads in each block, and blocks enough for all
/// rows of C in the first dimension of the grid and for all columns in the second, if each block
/// does so many. Define the three in your file.
extern "C" __constant__ int threads_per_block;
extern "C" __constant__ int rows_per_block;
extern "C" __constant__ int columns_per_block;

/// C = A B on the GPU in single precision. A has m rows and k columns, B has k rows and n columns,
/// C has m rows and n columns. Each lies row by row without gaps: element (i, j) of C is
/// `c[i * n + j]`. What `c` holds before is no number. Arrays begin at multiples of 64 bytes, rows
/// do not.
extern "C" __global__ void multiply(std::int32_t m, std::int32_t n, std::int32_t k, float const* a,
                                    float const* b, float* c);
