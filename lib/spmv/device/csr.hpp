#pragma once

#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>

/// `y = A x` on a GPU: matrices in device memory, kernels that are put into a stream, and a plan
/// that chooses among them. Kernels overwrite `y`, which does not overlap `x`; they throw
/// `cuda::Error` if they cannot be launched. Conversions work in a stream and return when the
/// result is complete.
namespace spmv::gpu {

/// Elements that may be read behind the last column and the last value, so that kernels can load
/// packs: they are 0.
inline constexpr std::int32_t csr_padding = 16;

/// Nonzeros and rows of a matrix at most: kernels look some thousand elements ahead in 32 bits.
inline constexpr std::int64_t most_nonzeros = std::int64_t{0x7fffffff} - 65536;

/// A matrix in compressed sparse rows in device memory, not owned: what kernels take.
template <class T>
struct CsrView
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int32_t nonzeros = 0;
    std::int32_t const* row_ptr = nullptr; ///< rows + 1 offsets
    std::int32_t const* col = nullptr;     ///< nonzeros and padding, on a boundary of 16 bytes
    T const* values = nullptr;             ///< nonzeros and padding, on a boundary of 16 bytes

    /// Bytes of the three arrays, without padding.
    std::size_t bytes() const
    {
        return (static_cast<std::size_t>(rows) + 1) * sizeof(std::int32_t) +
               static_cast<std::size_t>(nonzeros) * (sizeof(std::int32_t) + sizeof(T));
    }
};

/// Nonzeros per row; 0 without rows.
template <class T>
double mean_row(CsrView<T> const& a)
{
    return a.rows == 0 ? 0.0 : static_cast<double>(a.nonzeros) / a.rows;
}

/// A matrix in compressed sparse rows in device memory.
template <class T>
struct Csr
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int32_t nonzeros = 0;
    ::cuda::Buffer<std::int32_t> row_ptr;
    ::cuda::Buffer<std::int32_t> col;
    ::cuda::Buffer<T> values;

    /// Room for a matrix of this size; its padding is 0, all else without a value. Throws
    /// `std::length_error` beyond `most_nonzeros`, `std::invalid_argument` below 0.
    Csr(std::int32_t rows, std::int32_t columns, std::int64_t nonzeros);

    /// A copy of a matrix on the host, with its rows sorted and entries of one place added up if
    /// need be. Throws as above, and `std::invalid_argument` if it is none, as `spmv::Plan` does.
    explicit Csr(sparse::CsrView<T> const& host);

    /// Bytes of the three arrays.
    std::size_t bytes() const { return row_ptr.bytes() + col.bytes() + values.bytes(); }

    CsrView<T> view() const
    {
        return {rows, columns, nonzeros, row_ptr.data(), col.data(), values.data()};
    }
};

} // namespace spmv::gpu
