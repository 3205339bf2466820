#pragma once

#include <cstdint>
#include <span>

/// The rows of a matrix that this rank has, in compressed sparse rows: row `i` holds the entries
/// `row_ptr[i] <= p < row_ptr[i + 1]`, in the columns `col[p]`, ascending, with the values
/// `values[p]`.
struct Csr
{
    std::int32_t rows;                     ///< of this rank
    std::int32_t columns;                  ///< of the whole matrix
    std::span<std::int32_t const> row_ptr; ///< rows + 1 offsets, the first 0
    std::span<std::int32_t const> col;
    std::span<double const> values;
};

/// So many vectors are multiplied at once.
inline constexpr std::int32_t vectors = 4;

/// Y = A X on all ranks of MPI_COMM_WORLD. The matrix is square. Rank `r` has its rows `starts[r]`
/// to `starts[r + 1]`, and of the vectors the elements with the same numbers: element `starts[r] +
/// j` of vector `v` is `x[vectors * j + v]`, and so in `y`. What `y` holds before is no number.
void spmv(Csr const& a, std::span<std::int32_t const> starts, std::span<double const> x,
          std::span<double> y);
