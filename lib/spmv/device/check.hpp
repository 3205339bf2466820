#pragma once

#include "spmv/device/csr.hpp"

namespace spmv::gpu {

/// Throws `std::invalid_argument`, with what was found and expected, unless `a` is a matrix with
/// sorted rows, as `sparse::has_sorted_rows` decides it for one on the host: a kernel reads offsets
/// and columns once. What it cannot see is whether the arrays are as long as they should be and in
/// the memory of the device.
template <class T>
void check(CsrView<T> const& a, cudaStream_t stream);

} // namespace spmv::gpu
