#pragma once

#include "spmv/device/csr.hpp"

namespace spmv::gpu {

/// Threads of a block of `csr_roof`.
inline constexpr std::int32_t roof_threads = 256;

/// Entries that one block of `csr_roof` multiplies, eight for each of its threads: packs of 16
/// bytes of values, the first of all threads, then the second of all.
inline constexpr std::int32_t roof_entries = roof_threads * 8;

/// The least that any multiply by plain CSR does, and not one: reads all arrays and `x` at each
/// column, writes all of `y`, and leaves out what rows ask for, also that threads wait for each
/// other. Of `blocks` blocks, `nonzeros` over `roof_entries` rounded up, at least one, each thread
/// adds up its own products; thread `t` of block `b` writes that sum plus the row's number of
/// entries into every 256th row from `b * rows / blocks + t` on, up to `(b + 1) * rows / blocks`.
template <class T>
void csr_roof(CsrView<T> const& a, T const* x, T* y, cudaStream_t stream);

} // namespace spmv::gpu
