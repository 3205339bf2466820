#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

/// \file
/// What is done with matrices element by element, put into a stream. All memory is the device's;
/// sizes are below 2^31. `T` is base::fp16, base::bf16, float or double.

namespace dense::gpu {

/// Overwrites all elements with zeros.
template <class T>
void set_zero(Matrix<T> c, cuda::Stream const& stream);

/// `to(j, i) = from(i, j)`. The two do not overlap.
template <class T>
void transpose(Matrix<T const> from, Matrix<T> to, cuda::Stream const& stream);

/// `c = alpha x + beta c`, in the precision of sums of `T`; `c` is not read where `beta` is 0. `x`
/// is `c` or does not overlap it.
template <class T>
void add_scaled(double alpha, Matrix<T const> x, double beta, Matrix<T> c,
                cuda::Stream const& stream);

/// `c = beta c`, zeros where `beta` is 0, whatever `c` held.
template <class T>
void scale(double beta, Matrix<T> c, cuda::Stream const& stream);

} // namespace dense::gpu
