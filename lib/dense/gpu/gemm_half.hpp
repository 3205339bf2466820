#pragma once

#include "base/half.hpp"
#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <string_view>

/// \file
/// Products of 16-bit elements with sums in float, rounded once to the nearest. `T` is base::fp16
/// or base::bf16; any size below 2^31, any gaps between rows, any alignment of elements.

namespace dense::gpu {

/// `c = alpha a b + beta c` by `mma.sync`, which every GPU with these types has; `c` is not read
/// where `beta` is 0.
template <class T>
void multiply_by_mma(double alpha, Matrix<T const> a, Matrix<T const> b, double beta, Matrix<T> c,
                     cuda::Stream const& stream);

/// Why the current device has no such instruction; empty if it has.
template <class T>
std::string_view refuses_mma(Matrix<T const> const& a, Matrix<T const> const& b,
                             Matrix<T> const& c);

/// The same by `wgmma`, which GPUs of compute capability 9.0 alone have, divided among blocks as a
/// model expects it to be fastest (`gemm_wgmma.hpp`). Rows of `a` and `b` begin at multiples of 16
/// bytes.
template <class T>
void multiply_by_wgmma(double alpha, Matrix<T const> a, Matrix<T const> b, double beta, Matrix<T> c,
                       cuda::Stream const& stream);

/// Whether the current device has it.
bool has_wgmma();

/// Whether rows begin at multiples of 16 bytes.
template <class T>
bool can_load_boxes(Matrix<T const> const& m);

/// Why it is not made for these matrices or the current device; empty if it is.
template <class T>
std::string_view refuses_wgmma(Matrix<T const> const& a, Matrix<T const> const& b,
                               Matrix<T> const& c);

} // namespace dense::gpu
