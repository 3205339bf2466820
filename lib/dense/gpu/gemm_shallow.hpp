#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstdint>

/// \file
/// Products whose sums are short, of every type: operands are read where they lie, with any
/// alignment and gaps, and nothing is shared. For those a launch takes longer than the work, and
/// tiles of other kernels would be mostly empty.

namespace dense::gpu {

/// `c = alpha a b + beta c`; `c` is not read where `beta` is 0. `T` is base::fp16, base::bf16 (sums
/// in float, rounded once to the nearest), float or double. Right for any depth, and made for a few
/// dozen at most. `c` has fewer than 2^34 elements.
template <class T>
void multiply_shallow(double alpha, Matrix<T const> a, Matrix<T const> b, double beta, Matrix<T> c,
                      cuda::Stream const& stream);

/// Blocks of such a launch, of so many rows and columns of `c`.
std::int64_t shallow_blocks(std::int64_t rows, std::int64_t columns);

/// Depth of floats and doubles up to which that was faster than the other kernels on an H200, in
/// the geometric mean of drawn products: at the last of these 1.15 and 1.18 times.
template <class T>
constexpr std::int64_t very_shallow = sizeof(T) == 8 ? 3 : 4;

} // namespace dense::gpu
