#pragma once

#include "spmv/parts.hpp"

#include "sparse/bcsr.hpp"
#include "sparse/blocked_coo.hpp"
#include "sparse/csr.hpp"
#include "sparse/csrl.hpp"
#include "sparse/delta_csr.hpp"
#include "sparse/masked_blocks.hpp"
#include "sparse/packed_csrl.hpp"
#include "sparse/sell.hpp"

#include <cstdint>
#include <span>
#include <string_view>

/// \file
/// Kernels of every format, compiled once for each instruction set. A kernel computes the rows of
/// `y = A x` that belong to a range of the format's units, so that threads can share a matrix.

namespace spmv {

/// Computes the rows of the units in `range`. `x` has as many elements as the matrix has columns,
/// `y` as many as it has rows; rows of other units are not touched. `View` is the format's view.
template <class View, class T>
using RangeKernel = void(View const& a, T const* x, T* y, Range range);

/// A kernel in two forms, one for matrices that caches hold from one multiply to the next, and one
/// that asks early for those that come from memory.
template <class View, class T>
struct RangeKernels
{
    RangeKernel<View, T>* cached;
    RangeKernel<View, T>* streamed;

    /// The form that asks early for the matrix, or the one that does not.
    RangeKernel<View, T>* of(bool asks_early) const { return asks_early ? streamed : cached; }
};

/// The kernels of one instruction set. `T` is float or double.
template <class T>
struct FormatKernels
{
    char const* name; ///< "avx512_gather", "avx512", "avx2" or "baseline"

    /// Compressed sparse rows; units are rows.
    RangeKernels<sparse::CsrView<T>, T> csr;

    /// Sliced ELLPACK with unit and gathering steps; units are chunks.
    RangeKernels<sparse::SellView<T>, T> sell;

    /// As `sell.streamed`, asking early for elements of `x` that are gathered too.
    RangeKernel<sparse::SellView<T>, T>* sell_prefetch;

    /// As `sell`, with values stored in single precision.
    RangeKernels<sparse::SellView<T, float>, T> sell_narrow_values;

    /// CSR by runs; units are rows.
    RangeKernels<sparse::CsrlView<T>, T> csrl;

    /// CSR by runs with one word for each piece of a run; units are rows.
    RangeKernels<sparse::PackedCsrlView<T>, T> packed_csrl;

    /// CSR with 16-bit columns; units are rows.
    RangeKernels<sparse::DeltaCsrView<T>, T> delta_csr;

    /// Dense blocks of any shape; units are block rows.
    RangeKernels<sparse::BcsrView<T>, T> bcsr;

    /// Windows of groups of rows with masks; units are groups.
    RangeKernels<sparse::MaskedBlocksView<T>, T> masked_blocks;

    /// Blocked coordinates with indices of 8, 16 and 32 bits; units are strips. They always ask
    /// early.
    RangeKernel<sparse::BlockedCooView<T, std::uint8_t>, T>* blocked_coo8;
    RangeKernel<sparse::BlockedCooView<T, std::uint16_t>, T>* blocked_coo16;
    RangeKernel<sparse::BlockedCooView<T, std::uint32_t>, T>* blocked_coo32;
};

/// The instruction sets that this CPU and its operating system support, the best first; never
/// empty. `T` is float or double.
template <class T>
std::span<FormatKernels<T> const> format_kernels();

/// The kernels of the instruction set `name`, of the best if it is empty. Throws
/// `std::invalid_argument` if this CPU has none of that name.
template <class T>
FormatKernels<T> const& format_kernels(std::string_view name);

} // namespace spmv
