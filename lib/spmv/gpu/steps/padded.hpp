#pragma once

#include "spmv/device/csr.hpp"

namespace spmv::gpu {

/// Rows begin at multiples of so many entries: columns on boundaries of 32 bytes, which is what
/// memory moves at once.
inline constexpr std::int32_t row_alignment = 8;

/// The matrix with its rows filled up to multiples of `row_alignment` entries with zeros in the
/// row's last column, as article 5 suggests. Where `x` is infinite or NaN in that column, so is the
/// row already. Throws `std::length_error` if that is more than `most_nonzeros`.
template <class T>
Csr<T> with_padded_rows(CsrView<T> const& a, cudaStream_t stream);

} // namespace spmv::gpu
