#include "spmv.hpp"

#include <cstddef>

/// What programs of this repository call (`spmv::Tried`): arrays to spans.
extern "C" void memwall_tried(std::int32_t rows, std::int32_t columns, std::int32_t const* row_ptr,
                              std::int32_t const* col, double const* values, double const* x,
                              double* y)
{
    auto const count = static_cast<std::size_t>(rows);
    auto const nonzeros = static_cast<std::size_t>(row_ptr[rows]);
    spmv({rows, columns, {row_ptr, count + 1}, {col, nonzeros}, {values, nonzeros}},
         {x, static_cast<std::size_t>(columns)}, {y, count});
}
