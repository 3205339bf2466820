#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"
#include "spmv/formats/without_fill.hpp"

#include "simd/vector.hpp"
#include "spmv/formats/bcsr/bcsr.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// Rows of a block row that the matrix has.
inline std::int32_t rows_of(std::int32_t unit, std::int32_t block_rows, std::int32_t rows)
{
    return std::min(block_rows, rows - unit * block_rows);
}

/// Blocks of any width: their columns one by one, each in vectors of its own.
//! [bcsr_columns]
template <Ahead ahead, class T, int block_rows>
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
        std::int32_t const end = first_block[unit + 1];
        if (b < end) {
            prefetch_vector_ahead<ahead>(x + column[end - 1]);
        }
        for (; b < end; ++b) {
            T const* xs = x + column[b];
            prefetch_ahead<ahead>(column + b);
            for (std::int32_t j = 0; j < block_columns; ++j, values += block_rows) {
                prefetch_ahead<ahead>(values);
                for (int part = 0; part < parts; ++part) {
                    sums[part] += load_block<T, lanes>(values + part * lanes) * xs[j];
                }
            }
        }
        for (std::int32_t k = 0; k < rows_of(unit, block_rows, a.rows); ++k) {
            y[unit * block_rows + k] = sums[k / lanes][k % lanes];
        }
    }
}
//! [bcsr_columns]

/// The same elements in a wider vector, whose other lanes are undefined.
template <class T, int wide, int narrow>
BlockVector<T, wide> widen([[maybe_unused]] BlockVector<T, narrow> vector)
{
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4 && wide == 16 && narrow == 4) {
        return _mm512_castps128_ps512(vector);
    } else if constexpr (sizeof(T) == 4 && wide == 16) {
        return _mm512_castps256_ps512(vector);
    } else if constexpr (sizeof(T) == 8 && wide == 8 && narrow == 2) {
        return _mm512_castpd128_pd512(vector);
    } else if constexpr (sizeof(T) == 8 && wide == 8) {
        return _mm512_castpd256_pd512(vector);
    }
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4 && wide == 8) {
        return _mm256_castps128_ps256(vector);
    } else if constexpr (sizeof(T) == 8 && wide == 4) {
        return _mm256_castpd128_pd256(vector);
    }
#endif
}

/// The first `count` elements in a vector of `lanes`, the others of which are undefined; nothing
/// beyond `count` is read. The load is no wider than need be: wide ones often cross a cache line.
template <class T, int lanes, int count>
BlockVector<T, lanes> load_some(T const* from)
{
    constexpr int narrow = lanes_for<T>(count);
    static_assert(count <= narrow && narrow <= lanes);
    if constexpr (narrow < lanes) {
        return widen<T, lanes, narrow>(load_some<T, narrow, count>(from));
    } else if constexpr (count == lanes) {
        return load_block<T, lanes>(from);
    } else {
#if defined(__AVX512F__)
        constexpr auto first = static_cast<__mmask8>((1u << count) - 1);
        if constexpr (lanes * sizeof(T) == 64) {
            return simd::load_first(from, count);
        } else if constexpr (sizeof(T) == 4 && lanes == 8) {
            return _mm256_maskz_loadu_ps(first, from);
        } else if constexpr (sizeof(T) == 4 && lanes == 4) {
            return _mm_maskz_loadu_ps(first, from);
        } else if constexpr (lanes == 4) {
            return _mm256_maskz_loadu_pd(first, from);
        } else {
            return _mm_maskz_loadu_pd(first, from);
        }
#else
        BlockVector<T, lanes> some = {};
        for (int k = 0; k < count; ++k) {
            some[k] = from[k];
        }
        return some;
#endif
    }
}

/// How the blocks of one shape lie in vectors.
template <class T, int block_rows, int block_columns>
struct BlockLayout
{
    /// As many columns as fit into the widest vector; or into half of it, if fewer bytes are loaded
    /// then, counting vectors of up to 32 bytes alike.
    static constexpr int columns_together()
    {
        int best = 1;
        int fewest = std::numeric_limits<int>::max();
        for (int widest = simd::lanes<T>; widest >= block_rows; widest /= 2) {
            int const columns = std::min(widest / block_rows, block_columns);
            int const halves = (lanes_for<T>(block_rows * columns) * sizeof(T) + 31) / 32;
            int const loads = (block_columns + columns - 1) / columns * halves;
            if (loads < fewest) {
                best = columns;
                fewest = loads;
            }
        }
        return best;
    }

    static constexpr int together = columns_together(); ///< columns in a vector
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
template <Ahead ahead, class T, int block_rows, int block_columns>
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
        if (b < end) {
            prefetch_vector_ahead<ahead>(x + column[end - 1]);
        }
        for (; end - b >= 2; b += 2, values += 2 * size) {
            prefetch_ahead<ahead, 2 * size * sizeof(T)>(values);
            prefetch_ahead<ahead>(column + b);
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
        for (std::int32_t k = 0; k < rows_of(unit, block_rows, a.rows); ++k) {
            y[unit * block_rows + k] = sums[k];
        }
    }
}
//! [bcsr]

/// The kernels for blocks of 1 to 8 rows and any width.
template <Ahead ahead, class T>
constexpr RangeKernel<sparse::BcsrView<T>, T>* any_width[] = {
    bcsr_columns<ahead, T, 1>, bcsr_columns<ahead, T, 2>, bcsr_columns<ahead, T, 3>,
    bcsr_columns<ahead, T, 4>, bcsr_columns<ahead, T, 5>, bcsr_columns<ahead, T, 6>,
    bcsr_columns<ahead, T, 7>, bcsr_columns<ahead, T, 8>,
};

/// The kernel for blocks of a shape known to the compiler.
template <Ahead ahead, class T, int block_rows, int block_columns>
constexpr RangeKernel<sparse::BcsrView<T>, T>* shaped()
{
    if constexpr (block_rows <= static_cast<int>(simd::lanes<T>)) {
        return bcsr_blocks<ahead, T, block_rows, block_columns>;
    } else {
        return bcsr_columns<ahead, T, block_rows>;
    }
}

/// The kernel for blocks of a shape.
template <Ahead ahead, class T>
RangeKernel<sparse::BcsrView<T>, T>* bcsr_kernel(sparse::BlockShape shape)
{
    switch (10 * shape.rows + shape.columns) {
    case 22:
        return shaped<ahead, T, 2, 2>();
    case 23:
        return shaped<ahead, T, 2, 3>();
    case 24:
        return shaped<ahead, T, 2, 4>();
    case 32:
        return shaped<ahead, T, 3, 2>();
    case 33:
        return shaped<ahead, T, 3, 3>();
    case 42:
        return shaped<ahead, T, 4, 2>();
    case 44:
        return shaped<ahead, T, 4, 4>();
    case 66:
        return shaped<ahead, T, 6, 6>();
    case 88:
        return shaped<ahead, T, 8, 8>();
    default:
        break;
    }
    return any_width<ahead, T>[shape.rows - 1];
}

/// A row of `y = A x`, without what fills blocks up.
template <class T>
T bcsr_row(sparse::BcsrView<T> const& a, std::int32_t row, T const* x)
{
    T sum = 0;
    std::int32_t const unit = row / a.shape.rows;
    for (std::int32_t b = a.first_block[unit]; b < a.first_block[unit + 1]; ++b) {
        T const* value = a.values.data() + std::ptrdiff_t{b} * a.shape.size() + row % a.shape.rows;
        for (std::int32_t j = 0; j < a.shape.columns; ++j, value += a.shape.rows) {
            sum += sparse::is_fill(*value) ? T{0} : *value * x[a.column[b] + j];
        }
    }
    return sum;
}

template <Ahead ahead, class T>
void bcsr(sparse::BcsrView<T> const& a, T const* x, T* y, Range block_rows)
{
    sparse::FilledUnits const all[] = {{block_rows.begin, block_rows.end}};
    multiply_without_fill(bcsr_kernel<ahead, T>(a.shape), bcsr_row<T>, std::span{all}, a.shape.rows,
                          a, x, y, block_rows);
}

} // namespace
} // namespace spmv
