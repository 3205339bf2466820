#pragma once

#include "sparse/csr.hpp"
#include "spmv/formats/work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// Rows of a chunk: as many elements of `y` as fit in a cache line.
template <class T>
inline constexpr std::int32_t sell_height = 64 / sizeof(T);

/// Rows that may be sorted among each other: as many as a byte can number.
inline constexpr std::int32_t sell_window = 256;

/// Steps by which kernels may look ahead in the columns; so many lie behind the last.
inline constexpr std::int32_t sell_lookahead = 16;

/// How a matrix is cut into steps.
struct SellOptions
{
    bool sorted = true;     ///< rows of a window may be sorted by length where that saves padding
    bool narrow = true;     ///< 16-bit columns in chunks that span fewer than 65536
    bool unit_steps = true; ///< steps whose lanes read consecutive elements of `x`

    /// Threads that will share the chunks. Rows are sorted among those that one thread begins with,
    /// as nearly as nonzeros and rows tell: threads that write to the same cache lines of `y` wait
    /// for each other.
    int parts = 1;
};

/// Chunks that a kernel may multiply together.
inline constexpr std::int32_t sell_group = 4;

/// Where a chunk's steps and columns are described.
struct SellChunk
{
    /// Flags in `bits`.
    static constexpr std::uint32_t sorted_bit = 1u << 31;
    static constexpr std::uint32_t group_bit = 1u << 30;

    std::uint32_t bits; ///< index into the patterns, and flags
    std::int32_t base;  ///< first column of its 16-bit columns, or -1 if they have 32 bits

    /// Index into the patterns.
    [[gnu::always_inline]] std::uint32_t pattern() const
    {
        return bits & ~(sorted_bit | group_bit);
    }

    /// Whether its rows are permuted.
    [[gnu::always_inline]] bool sorted() const { return (bits & sorted_bit) != 0; }

    /// Whether a group begins: `sell_group` chunks of one pattern that have all their rows, in
    /// order, and only unit steps.
    [[gnu::always_inline]] bool begins_group() const { return (bits & group_bit) != 0; }
};

/// The steps of all chunks that look alike.
struct SellPattern
{
    std::uint32_t first_offset; ///< of `unit` offsets
    std::uint32_t first_mask;   ///< of `unit + partial` masks
    std::uint32_t unit;         ///< steps that read consecutive elements of `x`
    std::uint32_t full;         ///< steps that gather an element for every lane
    std::uint32_t partial;      ///< steps that gather for some lanes
    bool whole;                 ///< every unit step reads an element for every lane

    /// All steps.
    // Inlined also where a compiler would not, so that kernels with special flags leave no copy.
    [[gnu::always_inline]] std::uint32_t steps() const { return unit + full + partial; }
};

/// Where the values and columns of a chunk begin.
struct SellPosition
{
    std::size_t values; ///< index into the values
    std::size_t narrow; ///< index into the 16-bit columns
    std::size_t wide;   ///< index into the 32-bit columns
};

/// What kernels see of a `Sell`.
template <class T, class Stored = T>
struct SellView
{
    /// Chunks between two entries of `positions`.
    static constexpr std::int32_t stride = 16;

    std::int32_t rows;             ///< of the matrix
    SellChunk const* chunks;       ///< one for every `sell_height<T>` rows
    SellPattern const* patterns;   ///< shared by chunks
    std::int32_t const* offsets;   ///< of unit steps: first column minus the chunk's first row
    std::uint16_t const* masks;    ///< lanes that take part in a step
    SellPosition const* positions; ///< of every `stride`-th chunk, and the end
    Stored const* values;          ///< `sell_height<T>` for each step, 0 for absent lanes
    std::uint16_t const* narrow;   ///< `sell_height<T>` for each gathering step
    std::int32_t const* wide;      ///< as `narrow`, for the other chunks
    std::uint8_t const* order;     ///< row of each lane within its window

    /// Where chunk `chunk` begins.
    [[gnu::always_inline]] SellPosition position(std::int32_t chunk) const
    {
        SellPosition at = positions[chunk / stride];
        for (std::int32_t c = chunk / stride * stride; c < chunk; ++c) {
            SellPattern const& pattern = patterns[chunks[c].pattern()];
            std::size_t const columns = (pattern.full + pattern.partial) * sell_height<T>;
            at.values += pattern.steps() * std::size_t{sell_height<T>};
            (chunks[c].base < 0 ? at.wide : at.narrow) += columns;
        }
        return at;
    }
};

/// Sliced ELLPACK (SELL-C-sigma, Kreutzer et al. 2014) whose chunks hold as many rows as a cache
/// line holds elements, with steps of two kinds.
///
/// In step s of a chunk every lane multiplies one nonzero of its row. In a *unit step* the lanes
/// read consecutive elements of `x` (a piece of a diagonal), so that one offset serves them all; in
/// a *gathering step* each lane has its column, in 16 bits relative to the chunk's first column
/// where that suffices. Lanes without a nonzero are masked: they read nothing of `x` that their row
/// does not. What steps a chunk has is its pattern, and chunks that look alike share one, so that
/// the indices of a stencil's interior are stored once.
///
/// `T` is the type of `x` and `y`, `Stored` that of the values.
template <class T, class Stored = T>
struct Sell
{
    std::int32_t rows = 0;    ///< of the matrix
    std::int32_t columns = 0; ///< of the matrix
    std::size_t nonzero_count = 0;
    AlignedArray<SellChunk> chunks;
    AlignedArray<SellPattern> patterns;
    AlignedArray<std::int32_t> offsets;
    AlignedArray<std::uint16_t> masks;
    AlignedArray<SellPosition> positions; ///< of every 16th chunk, and the end
    AlignedArray<Stored> values;
    AlignedArray<std::uint16_t> narrow;
    AlignedArray<std::int32_t> wide;
    AlignedArray<std::uint8_t> order; ///< empty if no chunk is sorted

    std::size_t nonzeros() const { return nonzero_count; }

    /// Chunks.
    std::int32_t units() const { return static_cast<std::int32_t>(chunks.size()); }

    /// Stored values of all chunks before `unit`, those that gather counted twice, and the work of
    /// the rows.
    std::size_t work_before(std::int32_t unit) const
    {
        SellPosition const at = view().position(unit);
        return at.values + at.narrow + at.wide +
               static_cast<std::size_t>(row_work * sell_height<T> * unit);
    }

    /// Bytes of all arrays.
    std::size_t bytes() const
    {
        return chunks.size() * sizeof(SellChunk) + patterns.size() * sizeof(SellPattern) +
               offsets.size() * sizeof(std::int32_t) + masks.size() * sizeof(std::uint16_t) +
               positions.size() * sizeof(SellPosition) + values.size() * sizeof(Stored) +
               narrow.size() * sizeof(std::uint16_t) + wide.size() * sizeof(std::int32_t) +
               order.size();
    }

    SellView<T, Stored> view() const
    {
        return {rows,         chunks.data(),    patterns.data(), offsets.data(),
                masks.data(), positions.data(), values.data(),   narrow.data(),
                wide.data(),  order.data()};
    }
};

/// Converts a matrix; what it gives does not depend on the number of threads. `Stored` is `T`, or
/// float for double, which rounds the values.
template <class Stored, class T>
Sell<T, Stored> to_sell(CsrView<T> const& a, SellOptions const& options = {});

} // namespace sparse
