#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstddef>
#include <span>

namespace dense::gpu {

/// Elements `first` and those after it of `a b` in double precision, and the sums of the magnitudes
/// of their products, which bound what rounding may cost. `a` and `b` are in device memory; the
/// results are the host's. `T` is base::fp16, base::bf16, float or double. One thread for each
/// element and nothing else, so that it can be trusted.
template <class T>
void reference_product(Matrix<T const> a, Matrix<T const> b, std::size_t first,
                       std::span<double> value, std::span<double> magnitude,
                       cuda::Stream const& stream);

/// Elements `first` and those after it of softmax over rows of `columns` elements, in double
/// precision, and how far each element of x lies below the largest of its row. `first` begins a
/// row, and the spans hold whole rows. `x` is in device memory; the results are the host's.
template <class T>
void reference_softmax(bool logarithms, T const* x, std::int64_t columns, std::size_t first,
                       std::span<double> value, std::span<double> below,
                       cuda::Stream const& stream);

} // namespace dense::gpu
