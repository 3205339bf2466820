#pragma once

#include "bench/experiment.hpp"

#include <cstddef>
#include <span>

/// What kernels that sum an array by rows must find.
namespace transfer_modes {

inline constexpr std::size_t columns = 4096; ///< of the arrays that kernels sum by rows

/// Sums of rows of so many elements, one in `every`; of x, or of x times b where there is one.
bench::Expected sums_of_rows(std::span<float const> x, std::size_t width, std::size_t every,
                             std::span<float const> b = {});

} // namespace transfer_modes
