#pragma once

#include "spmv/formats/entry_blocks.hpp"
#include "spmv/formats/gpu.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv::gpu {

/// What kernels see of a `BlockedCoo`.
template <class T>
struct BlockedCooView
{
    std::int32_t const* first_row = nullptr;   ///< of each tile, and the number of rows
    std::int32_t const* first_chunk = nullptr; ///< of each tile, and the end
    std::int32_t const* base = nullptr;        ///< first column of each chunk's strip
    std::uint16_t const* row = nullptr;
    std::uint16_t const* col = nullptr;
    T const* values = nullptr;
};

/// Coordinates in tall tiles of rows, sorted by column: a block keeps the part of `y` of a tile in
/// shared memory and walks along `x` once, so that entries of many rows share what is loaded of it.
/// For matrices whose columns are anywhere. Sums are added up in no order.
template <class T>
class BlockedCoo
{
public:
    /// Converts `a`. Throws `std::length_error` if it would have more than `most_nonzeros` entries.
    BlockedCoo(CsrView<T> const& a, cudaStream_t stream);

    /// Computes `y = A x`.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Bytes of all arrays.
    std::size_t bytes() const;

private:
    EntryBlocks<T> blocks_;
    ::cuda::Buffer<std::int32_t> first_chunk_;
    ::cuda::Buffer<std::int32_t> base_;
};

/// What plans list of it.
struct BlockedCooFormat : Converted<BlockedCoo>
{
    static constexpr FormatName name{"blocked_coo", "gpu_blocked_coo"};
    static constexpr bool repeats = false;

    static double bytes(auto const& s) { return s.a.nonzeros * (4.0 + s.value_bytes); }
};

using blocked_coo_formats = std::tuple<BlockedCooFormat>;

} // namespace spmv::gpu
