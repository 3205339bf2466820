#pragma once

#include <cstdint>
#include <span>

/// A matrix in compressed sparse rows: row `i` holds the entries `row_ptr[i] <= p < row_ptr[i +
/// 1]`, in the columns `col[p]`, ascending, with the values `values[p]`.
struct Csr
{
    std::int32_t rows;
    std::int32_t columns;
    std::span<std::int32_t const> row_ptr; ///< rows + 1 offsets, the first 0
    std::span<std::int32_t const> col;
    std::span<double const> values;
};

/// So many vectors are multiplied at once.
inline constexpr std::int32_t vectors = 4;

/// Y = A X on all threads of OpenMP. Element `j` of vector `v` is `x[vectors * j + v]`, for
/// `columns` elements; element `i` of its result is `y[vectors * i + v]`, for `rows` elements. What
/// `y` holds before is no number.
void spmv(Csr const& a, std::span<double const> x, std::span<double> y);
