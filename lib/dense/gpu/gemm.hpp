#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

namespace dense::gpu {

/// `c = a b` in the memory of the current device, put into `stream`. Matrices may have no elements,
/// have no gaps between rows, and do not overlap. `T` is float or double; float products are made
/// without tensor cores, in full precision. Throws std::invalid_argument where sizes do not agree
/// or rows have gaps, cuda::Error if a kernel cannot be launched.
template <class T>
void gemm(Matrix<T const> a, Matrix<T const> b, Matrix<T> c, cuda::Stream const& stream);

} // namespace dense::gpu
