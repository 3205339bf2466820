#pragma once

#include "spmv/formats/gpu.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv::gpu {

/// Rows of a slice that each lane of a warp multiplies.
inline constexpr int diagonal_rows_per_lane = 2;

/// Which of the rows have an entry: bit `l` of word `r` stands for row `32 r + l` of the slice.
struct alignas(4 * diagonal_rows_per_lane) DiagonalMask
{
    std::uint32_t lanes[diagonal_rows_per_lane];
};

/// Elements that `Diagonals` would store; the largest number if it refuses the matrix at first
/// sight.
template <class T>
std::int64_t diagonal_elements(CsrView<T> const& a, cudaStream_t stream);

/// What kernels see of a `Diagonals`.
template <class T>
struct DiagonalsView
{
    std::int32_t rows = 0;
    std::int32_t slices = 0;
    std::int32_t const* pattern = nullptr;       ///< of each slice
    std::int64_t const* value_begin = nullptr;   ///< first value of each slice
    std::int32_t const* pattern_begin = nullptr; ///< first step of each pattern, and the end
    std::int32_t const* offset = nullptr;        ///< of each step: column minus row
    DiagonalMask const* mask = nullptr;          ///< of each step
    T const* values = nullptr;                   ///< of each step, one for each row of the slice
};

/// Diagonals in slices of 64 rows: a slice stores the pieces of diagonals that its rows meet, and
/// slices with the same pieces share one entry of a dictionary. A stencil's matrix then has hardly
/// any indices; the lanes of a warp read neighbouring elements of `x`.
template <class T>
class Diagonals
{
public:
    /// Converts `a`. Throws `std::length_error` if that would store more than twice as many
    /// elements as there are nonzeros.
    Diagonals(CsrView<T> const& a, cudaStream_t stream);

    /// Computes `y = A x`.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Bytes of all arrays.
    std::size_t bytes() const;

    /// Different patterns of slices.
    std::size_t patterns() const { return pattern_begin_.size() - 1; }

private:
    DiagonalsView<T> view() const;

    std::int32_t rows_;
    std::int32_t slices_;
    ::cuda::Buffer<std::int32_t> pattern_;
    ::cuda::Buffer<std::int64_t> value_begin_;
    ::cuda::Buffer<std::int32_t> pattern_begin_;
    ::cuda::Buffer<std::int32_t> offset_;
    ::cuda::Buffer<DiagonalMask> mask_;
    ::cuda::Buffer<T> values_;
};

/// What plans list of it.
struct DiagonalsFormat : Converted<Diagonals>
{
    static constexpr FormatName name{"diagonals", "gpu_diagonals"};

    static double bytes(auto const& s)
    {
        auto const elements = static_cast<double>(diagonal_elements(s.a, s.stream));
        return elements <= 2.0 * s.a.nonzeros ? elements * s.value_bytes : never;
    }
};

using diagonals_formats = std::tuple<DiagonalsFormat>;

} // namespace spmv::gpu
