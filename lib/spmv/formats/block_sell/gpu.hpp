#pragma once

#include "spmv/formats/gpu.hpp"

#include "spmv/formats/bcsr/bcsr.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv::gpu {

/// The blocks that save most bytes, as a sample of rows has it: 1 x 1 if none do.
struct BlockOutlook
{
    sparse::BlockShape shape;
    double fill; ///< elements of blocks for each nonzero
};

/// Looks at rows from the middle of `a`.
template <class T>
BlockOutlook block_outlook(CsrView<T> const& a);

/// What kernels see of a `BlockSell`.
template <class T>
struct BlockSellView
{
    std::int32_t rows = 0;
    std::int32_t slices = 0;
    std::int32_t const* begin = nullptr; ///< first step of each slice, and the end
    std::int32_t const* col = nullptr;   ///< first column of each block: 32 for each step
    T const* values =
        nullptr; ///< for each step the elements of its blocks, 32 by 32, column by column
};

/// Sliced ELLPACK of small dense blocks: a lane multiplies a block row, so that one column serves a
/// whole block and all loads of values are of neighbouring lanes. What fills blocks up has a value
/// that says so: what `x` is there reaches no row.
template <class T>
class BlockSell
{
public:
    /// Cuts a matrix into blocks, as `sparse::to_bcsr` does. Throws `std::length_error` if their
    /// shape is none of 2 x 2, 2 x 3, 3 x 2, 3 x 3, 2 x 4, 4 x 2, 4 x 4 and 6 x 6, or wider than
    /// the matrix.
    BlockSell(CsrView<T> const& a, sparse::BlockShape shape, cudaStream_t stream);

    /// As above, with the blocks of `block_outlook`.
    BlockSell(CsrView<T> const& a, cudaStream_t stream)
        : BlockSell{a, block_outlook(a).shape, stream}
    {
    }

    /// Computes `y = A x`.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Bytes of all arrays.
    std::size_t bytes() const { return begin_.bytes() + col_.bytes() + values_.bytes(); }

    /// Rows and columns of a block.
    sparse::BlockShape shape() const { return shape_; }

private:
    template <int block_rows, int block_columns>
    void fill(CsrView<T> const& a, cudaStream_t stream);

    std::int32_t rows_;
    std::int32_t slices_;
    sparse::BlockShape shape_;
    ::cuda::Buffer<std::int32_t> begin_;
    ::cuda::Buffer<std::int32_t> col_;
    ::cuda::Buffer<T> values_;
};

/// What plans list of it.
struct BlockSellFormat : Converted<BlockSell>
{
    static constexpr FormatName name{"block_sell", "block_sell"};

    static double bytes(auto const& s)
    {
        auto const blocks = block_outlook(s.a);
        return blocks.shape.size() == 1 || blocks.shape.rows == 8
                   ? never
                   : blocks.fill * s.a.nonzeros * (s.value_bytes + 4.0 / blocks.shape.size());
    }
};

using block_sell_formats = std::tuple<BlockSellFormat>;

} // namespace spmv::gpu
