#pragma once

#include <cstdint>
#include <span>

/// C = A B on all threads of OpenMP. A has m rows and k columns, B has k rows and n columns, C has
/// m rows and n columns. Each lies row by row without gaps: element (i, j) of C is `c[i * n + j]`.
/// What `c` holds before is no number.
void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c);
