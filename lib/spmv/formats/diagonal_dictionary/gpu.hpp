#pragma once

#include "spmv/formats/gpu.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv::gpu {

/// Diagonals that a dictionary can number.
inline constexpr int most_diagonals = 256;

/// What kernels see of a `DiagonalDictionary`.
template <class T>
struct DiagonalDictionaryView
{
    std::int32_t rows = 0;
    std::int32_t slices = 0;
    std::int32_t diagonals = 0;
    std::int32_t const* offset = nullptr; ///< of each diagonal: column minus row
    std::int64_t const* begin = nullptr;  ///< first element of each slice, and the end
    std::uint8_t const* length = nullptr; ///< entries of each row
    std::uint8_t const* diagonal = nullptr;
    T const* values = nullptr;
};

/// Sliced ELLPACK whose columns are numbers of diagonals, one byte each: for matrices with few
/// diagonals of which each row has its own choice, as of a grid with holes. Where neighbouring rows
/// have the same ones, `Diagonals` stores less.
template <class T>
class DiagonalDictionary
{
public:
    /// Converts `a`. Throws `std::length_error` if it has more than `most_diagonals` diagonals, a
    /// row of as many entries, or would store more than twice as many elements as nonzeros.
    DiagonalDictionary(CsrView<T> const& a, cudaStream_t stream);

    /// Computes `y = A x`.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Bytes of all arrays.
    std::size_t bytes() const;

private:
    DiagonalDictionaryView<T> view() const;
    void find_diagonals(CsrView<T> const& a, cudaStream_t stream);

    std::int32_t rows_;
    std::int32_t slices_;
    ::cuda::Buffer<std::int32_t> offset_;
    ::cuda::Buffer<std::int64_t> begin_;
    ::cuda::Buffer<std::uint8_t> length_;
    ::cuda::Buffer<std::uint8_t> diagonal_;
    ::cuda::Buffer<T> values_;
};

/// What plans list of it.
struct DiagonalDictionaryFormat : Converted<DiagonalDictionary>
{
    static constexpr FormatName name{"diagonal_dictionary", "diagonal_dictionary"};

    static double bytes(auto const& s)
    {
        auto const elements = static_cast<double>(s.sell.elements);
        return elements <= 2.0 * s.a.nonzeros ? elements * (1 + s.value_bytes) : never;
    }
};

using diagonal_dictionary_formats = std::tuple<DiagonalDictionaryFormat>;

} // namespace spmv::gpu
