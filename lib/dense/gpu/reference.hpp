#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstddef>
#include <span>

namespace dense::gpu {

/// Elements `first` and those after it of `a b` in double precision, and the sums of the magnitudes of
/// their products, which bound what rounding may cost. `a` and `b` are in device memory, without gaps; the
/// results are the host's. One thread for each element and nothing else, so that it can be trusted.
template <class T>
void reference_product(Matrix<T const> a, Matrix<T const> b, std::size_t first,
                       std::span<double> value, std::span<double> magnitude,
                       cuda::Stream const& stream);

} // namespace dense::gpu
