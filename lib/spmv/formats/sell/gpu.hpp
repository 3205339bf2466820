#pragma once

#include "spmv/formats/gpu.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv::gpu {

/// Rows of a slice: one for each lane of a warp.
inline constexpr std::int32_t slice_rows = 32;

/// Rows among which rows are sorted by length.
inline constexpr std::int32_t sort_window = 1024;

/// What `Sell` would make of a matrix.
struct SellOutlook
{
    std::int64_t elements; ///< that are stored with rows in order, padding included
    std::int32_t longest;  ///< entries of the longest row
    bool is_narrow;        ///< whether narrow columns would fit with rows in order
};

/// Looks at the structure of `a`, which is some hundred times faster than converting it.
template <class T>
SellOutlook sell_outlook(CsrView<T> const& a, cudaStream_t stream);

/// What kernels see of a `Sell` with columns of type `Column`.
template <class T, class Column>
struct SellView
{
    std::int32_t rows = 0;
    std::int32_t slices = 0;
    std::int64_t const* begin = nullptr; ///< first element of each slice, and the end
    std::int32_t const* base = nullptr;  ///< first column of each slice, where columns are narrow
    std::int32_t const* row = nullptr;   ///< row of each lane of each slice; null if in order
    Column const* col = nullptr;
    T const* values = nullptr;
};

/// Sliced ELLPACK for warps (SELL-C-sigma, Kreutzer et al. 2014): a slice is 32 rows of equal
/// padded length, stored so that lanes load neighbouring packs. Rows are sorted by length within
/// windows of 1024 where that saves bytes.
///
/// Narrow columns have 16 bits: the distance to the column before in the row, for the first of a
/// row to the first of the slice. Padding repeats a column of the row, or is some column of the
/// slice where the row has no entries, with a value that says so: what `x` is there reaches no row.
template <class T>
class Sell
{
public:
    /// Converts `a`. Throws `std::length_error` if the columns should be `narrow` and are too far
    /// apart for that, or if more than four elements would be stored for each nonzero.
    Sell(CsrView<T> const& a, bool narrow, cudaStream_t stream);

    /// Computes `y = A x`.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Bytes of all arrays.
    std::size_t bytes() const;

    /// Elements that are stored, padding included.
    std::size_t elements() const { return values_.size(); }

    /// Whether rows were sorted.
    bool sorted() const { return row_.size() > 0; }

private:
    template <class Column>
    SellView<T, Column> view(::cuda::Buffer<Column> const& col) const;

    void choose_order(CsrView<T> const& a, cudaStream_t stream);
    void fill(CsrView<T> const& a, cudaStream_t stream);

    std::int32_t rows_;
    std::int32_t slices_;
    int pack_ = 1; ///< neighbouring elements of a lane: 1, 2 or 4
    bool narrow_;
    ::cuda::Buffer<std::int64_t> begin_;
    ::cuda::Buffer<std::int32_t> base_;
    ::cuda::Buffer<std::int32_t> row_;
    ::cuda::Buffer<std::uint16_t> narrow_col_;
    ::cuda::Buffer<std::int32_t> wide_col_;
    ::cuda::Buffer<T> values_;
};

/// What plans list of it.
template <bool narrow>
struct SellFormat : Converted<Sell, narrow>
{
    static constexpr FormatName name{narrow ? "sell16" : "sell32", "gpu_sell"};

    static double bytes(auto const& s)
    {
        auto const in_order = static_cast<double>(s.sell.elements);
        bool const sorts = in_order > 1.1 * s.a.nonzeros;
        double const elements = sorts ? 1.03 * s.a.nonzeros : in_order;
        if (narrow) {
            return s.sell.is_narrow && !sorts ? elements * (2 + s.value_bytes) : never;
        }
        return elements * (4 + s.value_bytes) + (sorts ? 4.0 * s.a.rows : 0);
    }
};

using sell_formats = std::tuple<SellFormat<false>, SellFormat<true>>;

} // namespace spmv::gpu
