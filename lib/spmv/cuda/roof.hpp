#pragma once

#include "spmv/cuda/csr.hpp"

#include <cuda_runtime_api.h>

namespace spmv::gpu {

/// Entries that one block of `csr_roof` adds up.
template <class T>
inline constexpr std::int32_t roof_entries = 256 * 2 * 16 / sizeof(T);

/// The least that any multiply by plain CSR does, and not one: reads all arrays and `x` at each
/// column, writes all of `y`, and leaves out what rows ask for. Of `blocks` blocks, `nonzeros` over
/// `roof_entries` rounded up, at least one, block `b` adds up its products; it writes that sum plus
/// the row's number of entries into rows `b * rows / blocks` to `(b + 1) * rows / blocks`.
template <class T>
void csr_roof(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream);

} // namespace spmv::gpu
