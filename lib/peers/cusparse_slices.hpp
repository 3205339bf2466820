#pragma once

#include "cuda/buffer.hpp"
#include "spmv/device/csr.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace peers {

/// Rows of a slice.
inline constexpr std::int32_t cusparse_slice_rows = 32;

/// Sliced ELLPACK as cuSPARSE wants it: slices column by column, -1 for columns of padding.
template <class T>
struct CusparseSlices
{
    ::cuda::Buffer<std::int32_t> begin; ///< first element of each slice, and the end
    ::cuda::Buffer<std::int32_t> col;
    ::cuda::Buffer<T> values;

    std::size_t bytes() const { return begin.bytes() + col.bytes() + values.bytes(); }
};

/// Converts a matrix. Throws `NotApplicable` if more than 2^31 - 1 elements would be stored, or
/// more than ten for each nonzero.
template <class T>
CusparseSlices<T> cusparse_slices(spmv::gpu::CsrView<T> const& a, cudaStream_t stream);

} // namespace peers
