#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

namespace dense::gpu {

/// `c = a b` in the memory of the current device, put into `stream`. Matrices may have no elements,
/// and have no gaps between rows. `T` is float or double; float products are made without tensor
/// cores, in full precision. Throws std::invalid_argument where `dense::gemm` does, where rows have
/// gaps and for more than 2^31 - 1 rows or columns, cuda::Error if a kernel cannot be launched.
template <class T>
void gemm(Operand<T> a, Operand<T> b, Matrix<T> c, cuda::Stream const& stream);

} // namespace dense::gpu
