#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/format_kernels.hpp"
#include "spmv/parts.hpp"

#include "simd/vector.hpp"
#include "sparse/bcsr.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace spmv {
namespace {

/// A vector of `lanes` elements, which may be narrower than `simd::Vector`.
template <class T, int lanes>
struct BlockVectorTypes
{
    using Aligned [[gnu::vector_size(lanes * sizeof(T))]] = T;
    typedef T Unaligned
        __attribute__((vector_size(lanes * sizeof(T)), aligned(alignof(T)), may_alias));
};

template <class T, int lanes>
using BlockVector = typename BlockVectorTypes<T, lanes>::Aligned;

template <class T, int lanes>
BlockVector<T, lanes> load_block(T const* from)
{
    return *reinterpret_cast<typename BlockVectorTypes<T, lanes>::Unaligned const*>(from);
}

/// The lanes of the narrowest vector that holds `count` elements, of the widest if none does.
template <class T>
constexpr int lanes_for(int count)
{
    int lanes = 16 / sizeof(T);
    while (lanes < count && lanes < static_cast<int>(simd::lanes<T>)) {
        lanes *= 2;
    }
    return lanes;
}

/// Stores the rows of a block row that the matrix has.
template <class T>
void store_rows(T const* sums, T* y, std::int32_t first, std::int32_t block_rows, std::int32_t rows)
{
    for (std::int32_t k = 0; k < block_rows && first + k < rows; ++k) {
        y[first + k] = sums[k];
    }
}

/// Blocks of any width: their columns one by one, each in vectors of its own.
//! [bcsr_columns]
template <class T, int block_rows>
void bcsr_columns(sparse::BcsrView<T> const& a, T const* x, T* y, Range range)
{
    constexpr int lanes = lanes_for<T>(block_rows);
    constexpr int parts = (block_rows + lanes - 1) / lanes;
    std::int32_t const* first_block = a.first_block.data();
    std::int32_t const* column = a.column.data();
    std::int32_t const block_columns = a.shape.columns;
    std::int32_t b = first_block[range.begin];
    T const* values = a.values.data() + std::ptrdiff_t{b} * a.shape.size();
    for (std::int32_t unit = range.begin; unit < range.end; ++unit) {
        BlockVector<T, lanes> sums[parts] = {};
        for (std::int32_t const end = first_block[unit + 1]; b < end; ++b) {
            T const* xs = x + column[b];
            for (std::int32_t j = 0; j < block_columns; ++j, values += block_rows) {
                for (int part = 0; part < parts; ++part) {
                    sums[part] += load_block<T, lanes>(values + part * lanes) * xs[j];
                }
            }
        }
        store_rows(reinterpret_cast<T const*>(sums), y, unit * block_rows, block_rows, a.rows);
    }
}
//! [bcsr_columns]

/// The first `count` elements in a vector of at least as many lanes; nothing beyond is read.
template <class T, int lanes, int count>
BlockVector<T, lanes> load_some(T const* from)
{
    static_assert(count <= lanes);
#if defined(__AVX512F__)
    constexpr bool single = sizeof(T) == 4;
    constexpr auto first = static_cast<std::uint16_t>((1u << count) - 1);
    if constexpr (single && lanes == 16) {
        return _mm512_maskz_loadu_ps(first, from);
    } else if constexpr (single && lanes == 8) {
        return _mm256_maskz_loadu_ps(static_cast<__mmask8>(first), from);
    } else if constexpr (single) {
        return _mm_maskz_loadu_ps(static_cast<__mmask8>(first), from);
    } else if constexpr (lanes == 8) {
        return _mm512_maskz_loadu_pd(static_cast<__mmask8>(first), from);
    } else if constexpr (lanes == 4) {
        return _mm256_maskz_loadu_pd(static_cast<__mmask8>(first), from);
    } else {
        return _mm_maskz_loadu_pd(static_cast<__mmask8>(first), from);
    }
#else
    if constexpr (lanes == count) {
        return load_block<T, lanes>(from);
    } else {
        BlockVector<T, lanes> some = {};
        for (int k = 0; k < count; ++k) {
            some[k] = from[k];
        }
        return some;
    }
#endif
}

/// How the blocks of one shape lie in vectors.
template <class T, int block_rows, int block_columns>
struct BlockLayout
{
    static constexpr int widest = static_cast<int>(simd::lanes<T>);
    static constexpr int fit = widest / block_rows;
    static constexpr int together = fit < block_columns ? fit : block_columns; ///< columns a vector
    static constexpr int lanes = lanes_for<T>(block_rows * together);
    static constexpr int parts = (block_columns + together - 1) / together; ///< vectors of a block

    /// Repeats each element of `x` for the rows of its column, in the layout of vector `part`.
    template <int part, std::size_t... lane>
    static BlockVector<T, lanes> spread(BlockVector<T, lanes> x, std::index_sequence<lane...>)
    {
        constexpr auto source = [](int k) {
            int const column = part * together + k / block_rows;
            return k < block_rows * together && column < block_columns ? column : -1;
        };
        return __builtin_shufflevector(x, x, source(lane)...);
    }

    /// Adds the products of one block.
    template <std::size_t... part>
    static void add(T const* values, T const* x, BlockVector<T, lanes> (&sums)[parts],
                    std::index_sequence<part...>)
    {
        if constexpr (block_columns <= lanes) {
            auto const xs = load_some<T, lanes, block_columns>(x);
            ((sums[part] += load_block<T, lanes>(values + part * together * block_rows) *
                            spread<part>(xs, std::make_index_sequence<lanes>{})),
             ...);
        } else { // one column a vector
            ((sums[part] += load_block<T, lanes>(values + part * block_rows) * x[part]), ...);
        }
    }

    /// Adds up the columns of `sums`: one element for each row.
    static void total(BlockVector<T, lanes> const (&sums)[parts], T* rows)
    {
        for (int k = 0; k < block_rows; ++k) {
            rows[k] = 0;
        }
        for (int j = 0; j < block_columns; ++j) {
            for (int k = 0; k < block_rows; ++k) {
                rows[k] += sums[j / together][j % together * block_rows + k];
            }
        }
    }
};

/// Blocks of a shape known to the compiler: as many of their columns in a vector as fit into it.
//! [bcsr]
template <class T, int block_rows, int block_columns>
void bcsr_blocks(sparse::BcsrView<T> const& a, T const* x, T* y, Range range)
{
    using Layout = BlockLayout<T, block_rows, block_columns>;
    constexpr auto parts = std::make_index_sequence<Layout::parts>{};
    constexpr int size = block_rows * block_columns;
    std::int32_t const* first_block = a.first_block.data();
    std::int32_t const* column = a.column.data();
    std::int32_t b = first_block[range.begin];
    T const* values = a.values.data() + std::ptrdiff_t{b} * size;
    for (std::int32_t unit = range.begin; unit < range.end; ++unit) {
        BlockVector<T, Layout::lanes> even[Layout::parts] = {}; // two sums that do not wait for
        BlockVector<T, Layout::lanes> odd[Layout::parts] = {};  // each other
        std::int32_t const end = first_block[unit + 1];
        for (; end - b >= 2; b += 2, values += 2 * size) {
            Layout::add(values, x + column[b], even, parts);
            Layout::add(values + size, x + column[b + 1], odd, parts);
        }
        if (b < end) {
            Layout::add(values, x + column[b], even, parts);
            ++b;
            values += size;
        }
        for (int part = 0; part < Layout::parts; ++part) {
            even[part] += odd[part];
        }
        T sums[block_rows];
        Layout::total(even, sums);
        store_rows(sums, y, unit * block_rows, block_rows, a.rows);
    }
}
//! [bcsr]

/// The kernels for blocks of 1 to 8 rows and any width.
template <class T>
constexpr RangeKernel<sparse::BcsrView<T>, T>* any_width[] = {
    bcsr_columns<T, 1>, bcsr_columns<T, 2>, bcsr_columns<T, 3>, bcsr_columns<T, 4>,
    bcsr_columns<T, 5>, bcsr_columns<T, 6>, bcsr_columns<T, 7>, bcsr_columns<T, 8>,
};

/// The kernel for blocks of a shape known to the compiler.
template <class T, int block_rows, int block_columns>
constexpr RangeKernel<sparse::BcsrView<T>, T>* shaped()
{
    if constexpr (block_rows <= static_cast<int>(simd::lanes<T>)) {
        return bcsr_blocks<T, block_rows, block_columns>;
    } else {
        return bcsr_columns<T, block_rows>;
    }
}

/// The kernel for blocks of a shape.
template <class T>
RangeKernel<sparse::BcsrView<T>, T>* bcsr_kernel(sparse::BlockShape shape)
{
    switch (10 * shape.rows + shape.columns) {
    case 22:
        return shaped<T, 2, 2>();
    case 23:
        return shaped<T, 2, 3>();
    case 24:
        return shaped<T, 2, 4>();
    case 32:
        return shaped<T, 3, 2>();
    case 33:
        return shaped<T, 3, 3>();
    case 42:
        return shaped<T, 4, 2>();
    case 44:
        return shaped<T, 4, 4>();
    default:
        break;
    }
    return any_width<T>[shape.rows - 1];
}

template <class T>
void bcsr(sparse::BcsrView<T> const& a, T const* x, T* y, Range block_rows)
{
    bcsr_kernel<T>(a.shape)(a, x, y, block_rows);
}

} // namespace
} // namespace spmv
