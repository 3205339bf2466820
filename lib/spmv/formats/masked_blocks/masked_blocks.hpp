#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace sparse {

/// Columns of a window: 64 bytes of `x`.
template <class T>
inline constexpr std::int32_t window_columns = 64 / sizeof(T);

/// One bit for each column of a window, the lowest for the first.
template <class T>
using WindowMask = std::conditional_t<sizeof(T) == 4, std::uint16_t, std::uint8_t>;

/// A matrix of masked blocks, not owned.
template <class T>
struct MaskedBlocksView
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int32_t group_rows = 1;
    bool in_runs =
        false; ///< most windows are one run from their first column on, the same in all rows
    std::span<std::int32_t const> first_window; ///< groups + 1 offsets into `column`
    std::span<std::int32_t const> column;       ///< first column of each window
    std::span<WindowMask<T> const> mask;        ///< `group_rows` for each window
    std::span<T const> values;                  ///< window by window, each row by row
    std::span<std::int32_t const> checkpoint;   ///< values before windows 0, 64, 128, ...

    /// Where the values of `group` begin, 0 <= `group` <= groups.
    std::int32_t position(std::int32_t group) const;
};

/// A matrix cut into groups of 1 to 4 or 6 rows, and each group into windows of 64 bytes of `x`
/// that begin at its first column not yet covered; one mask for each row of a window says which
/// columns have a value, and no zero is stored. Units are groups. The idea is that of SPC5's
/// blocks: Bramas and Kus, "Computing the sparse matrix vector product using block-based kernels
/// without zero padding on processors with AVX-512 instructions", PeerJ CS 4:e151, 2018.
template <class T>
struct MaskedBlocks
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int32_t group_rows = 1;
    bool in_runs = false;
    AlignedArray<std::int32_t> first_window = AlignedArray<std::int32_t>(1, 0);
    AlignedArray<std::int32_t> column;
    AlignedArray<WindowMask<T>> mask;
    AlignedArray<T> values;
    AlignedArray<std::int32_t> checkpoint = AlignedArray<std::int32_t>(1, 0);

    std::size_t nonzeros() const { return values.size(); }

    /// Bytes of all arrays.
    std::size_t bytes() const;

    std::int32_t units() const { return static_cast<std::int32_t>(first_window.size()) - 1; }

    /// Nonzeros of the groups before `group`, and the work of their windows and rows.
    std::int64_t work_before(std::int32_t group) const
    {
        return std::int64_t{view().position(group)} + window_work * first_window[group] +
               row_work * group * group_rows;
    }

    MaskedBlocksView<T> view() const
    {
        return {rows, columns, group_rows, in_runs, first_window, column, mask, values, checkpoint};
    }
};

/// Cuts a matrix into windows of `group_rows` rows. Throws `std::length_error` if `group_rows` is
/// not 1, 2, 3, 4 or 6. The result does not depend on the number of threads.
template <class T>
MaskedBlocks<T> to_masked_blocks(CsrView<T> const& a, std::int32_t group_rows);

/// Windows that it would have, counted without converting. `T` is the element type.
template <class T>
std::int64_t window_count(PatternView<> const& a, std::int32_t group_rows);

} // namespace sparse
