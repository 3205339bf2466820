#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"
#include "spmv/formats/run_sum.hpp"

#include "simd/vector.hpp"
#include "spmv/formats/masked_blocks/masked_blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace spmv {
namespace {

#if defined(__AVX512F__)

/// A mask register with these bits.
template <class T>
auto bits_of(unsigned bits)
{
    return static_cast<std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>>(bits);
}

/// The elements whose bits are set, one behind the other in memory, each in the lane of its bit;
/// zeros in the other lanes.
template <class T>
simd::Vector<T> expand_load(unsigned bits, T const* from)
{
    if constexpr (sizeof(T) == 4) {
        return _mm512_maskz_expandloadu_ps(bits_of<T>(bits), from);
    } else {
        return _mm512_maskz_expandloadu_pd(bits_of<T>(bits), from);
    }
}

/// The elements whose bits are set, each in the lane of its bit; no other is read.
template <class T>
simd::Vector<T> masked_load(unsigned bits, T const* from)
{
    if constexpr (sizeof(T) == 4) {
        return _mm512_maskz_loadu_ps(bits_of<T>(bits), from);
    } else {
        return _mm512_maskz_loadu_pd(bits_of<T>(bits), from);
    }
}

/// `a * b + c` in the lanes whose bits are set, `c` in the others.
template <class T>
simd::Vector<T> multiply_add_where(unsigned bits, simd::Vector<T> a, simd::Vector<T> b,
                                   simd::Vector<T> c)
{
    if constexpr (sizeof(T) == 4) {
        return _mm512_mask3_fmadd_ps(a, b, c, bits_of<T>(bits));
    } else {
        return _mm512_mask3_fmadd_pd(a, b, c, bits_of<T>(bits));
    }
}

/// The sums of the rows of a group.
template <Ahead ahead, class T, std::int32_t rows, bool in_runs>
struct GroupSums
{
    simd::Vector<T> sums[rows] = {};

    /// Adds one window and returns where the values of the next begin.
    T const* add(sparse::WindowMask<T> const* mask, T const* values, T const* x)
    {
        unsigned bits[rows];
        unsigned used = 0;
        bool same = true;
        for (std::int32_t k = 0; k < rows; ++k) {
            bits[k] = mask[k];
            used |= bits[k];
            same = same && bits[k] == bits[0];
        }
        auto const xs = masked_load<T>(used, x);
        if (in_runs && same && (used & (used + 1)) == 0) { // one run: nothing to expand
            int const length = __builtin_popcount(used);
            for (std::int32_t k = 0; k < rows; ++k, values += length) {
                prefetch_ahead<ahead>(values);
                sums[k] = simd::multiply_add<T>(masked_load<T>(used, values), xs, sums[k]);
            }
            return values;
        }
        for (std::int32_t k = 0; k < rows; ++k) {
            prefetch_ahead<ahead>(values);
            sums[k] = multiply_add_where<T>(bits[k], expand_load<T>(bits[k], values), xs, sums[k]);
            values += __builtin_popcount(bits[k]);
        }
        return values;
    }

    T total(std::int32_t k) const { return simd::sum<T>(sums[k]); }
};

#else

/// The sums of the rows of a group.
template <Ahead ahead, class T, std::int32_t rows, bool in_runs>
struct GroupSums
{
    RunSum<T> sums[rows];

    /// Adds one window and returns where the values of the next begin.
    T const* add(sparse::WindowMask<T> const* mask, T const* values, T const* x)
    {
        for (std::int32_t k = 0; k < rows; ++k) {
            unsigned bits = mask[k];
            prefetch_ahead<ahead>(values);
            if (in_runs && (bits & (bits + 1)) == 0) {
                int const length = __builtin_ctz(~bits);
                sums[k].template add<ahead>(values, x, length);
                values += length;
                continue;
            }
            for (; bits != 0; bits &= bits - 1) {
                sums[k].rest += *values++ * x[__builtin_ctz(bits)];
            }
        }
        return values;
    }

    T total(std::int32_t k) const { return sums[k].total(); }
};

#endif

//! [masked_blocks]
template <Ahead ahead, class T, std::int32_t group_rows, bool in_runs>
void masked_blocks(sparse::MaskedBlocksView<T> const& a, T const* x, T* y, Range groups)
{
    std::int32_t const* first_window = a.first_window.data();
    std::int32_t const* column = a.column.data();
    std::int32_t w = first_window[groups.begin];
    auto const* mask = a.mask.data() + std::ptrdiff_t{w} * group_rows;
    T const* values = a.values.data() + a.position(groups.begin);
    for (std::int32_t g = groups.begin; g < groups.end; ++g) {
        GroupSums<ahead, T, group_rows, in_runs> group;
        std::int32_t const end = first_window[g + 1];
        if (w < end) {
            prefetch_vector_ahead<ahead>(x + column[end - 1]);
        }
        for (; w < end; ++w, mask += group_rows) {
            prefetch_ahead<ahead>(column + w);
            prefetch_ahead<ahead>(mask);
            values = group.add(mask, values, x + column[w]);
        }
        std::int32_t const first_row = g * group_rows;
        for (std::int32_t k = 0; k < group_rows && k < a.rows - first_row; ++k) {
            y[first_row + k] = group.total(k);
        }
    }
}
//! [masked_blocks]

template <Ahead ahead, class T, std::int32_t group_rows>
void masked_blocks(sparse::MaskedBlocksView<T> const& a, T const* x, T* y, Range groups)
{
    // With the processors that gather fast, expanding every window is up to 2.4 times as fast where
    // some are runs, and at most 8 % slower where all are.
    bool const in_runs = a.in_runs && !simd::has_gather_instructions;
    auto const kernel = in_runs ? masked_blocks<ahead, T, group_rows, true>
                                : masked_blocks<ahead, T, group_rows, false>;
    kernel(a, x, y, groups);
}

template <Ahead ahead, class T>
void masked_blocks(sparse::MaskedBlocksView<T> const& a, T const* x, T* y, Range groups)
{
    switch (a.group_rows) {
    case 1:
        return masked_blocks<ahead, T, 1>(a, x, y, groups);
    case 2:
        return masked_blocks<ahead, T, 2>(a, x, y, groups);
    case 3:
        return masked_blocks<ahead, T, 3>(a, x, y, groups);
    case 4:
        return masked_blocks<ahead, T, 4>(a, x, y, groups);
    default:
        return masked_blocks<ahead, T, 6>(a, x, y, groups);
    }
}

} // namespace
} // namespace spmv
