#pragma once

#include "cuda/stream.hpp"

#include <cstddef>

namespace transfer::testing {

/// y = 2 x for `rows` rows of `width` elements, which lie so many bytes apart: what tests compute
/// between two copies.
void double_rows(float const* x, std::size_t x_pitch, float* y, std::size_t y_pitch,
                 std::size_t width, std::size_t rows, cudaStream_t stream);

} // namespace transfer::testing
