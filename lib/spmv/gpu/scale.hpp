#pragma once

#include "cuda/stream.hpp"

#include <cstdint>

namespace spmv::gpu {

/// Computes `y = factor y` of `count` elements; `y` is not read if `factor` is 0.
template <class T>
void scale(T factor, T* y, std::int64_t count, cudaStream_t stream);

/// Computes `y = alpha product + beta y` of `count` elements.
template <class T>
void add_scaled(T alpha, T const* product, T beta, T* y, std::int64_t count, cudaStream_t stream);

} // namespace spmv::gpu
