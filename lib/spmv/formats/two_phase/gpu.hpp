#pragma once

#include "spmv/formats/entry_blocks.hpp"
#include "spmv/formats/gpu.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv::gpu {

/// What kernels see of a `TwoPhase`.
template <class T>
struct TwoPhaseView
{
    std::int32_t columns = 0;
    std::int32_t tiles = 0;
    std::int32_t strips = 0;
    std::int32_t strip_columns = 0;
    std::int32_t const* begin = nullptr; ///< of each block: all tiles of a strip, strip by strip
    std::int32_t const* first_row = nullptr; ///< of each tile, and the number of rows
    std::uint16_t const* row = nullptr;
    std::uint16_t const* col = nullptr;
    T const* values = nullptr;
};

/// Two phases that both stream (after propagation blocking, Beamer, Asanovic and Patterson 2017):
/// the first multiplies strips of columns by a part of `x` in shared memory and writes the products
/// down, the second adds up those of a tile of rows in shared memory. It moves twice the bytes of
/// CSR, and no load waits for a place that nothing foresees. Sums are added up in no order.
template <class T>
class TwoPhase
{
public:
    /// Converts `a`. Throws `std::length_error` if it would have more than `most_nonzeros` entries.
    TwoPhase(CsrView<T> const& a, cudaStream_t stream);

    /// Computes `y = A x`. One multiply at a time.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Bytes of all arrays, the products among them.
    std::size_t bytes() const { return blocks_.bytes() + products_.bytes(); }

private:
    std::int32_t columns_;
    EntryBlocks<T> blocks_;
    mutable ::cuda::Buffer<T> products_; ///< scratch of the running multiply
};

/// What plans list of it.
struct TwoPhaseFormat : Converted<TwoPhase>
{
    static constexpr FormatName name{"two_phase", "gpu_two_phase"};
    static constexpr bool repeats = false;

    static double bytes(auto const& s) { return s.a.nonzeros * (4.0 + 2 * s.value_bytes); }
};

using two_phase_formats = std::tuple<TwoPhaseFormat>;

} // namespace spmv::gpu
