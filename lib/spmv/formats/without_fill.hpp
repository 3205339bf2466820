#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/fill.hpp"
#include "spmv/formats/parts.hpp"

#include "simd/vector.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace spmv {
namespace {

/// 0 if all elements are finite, else NaN, as is the product of 0 with what is infinite or NaN.
template <class T>
T zero_if_finite(T const* y, std::int64_t count)
{
    constexpr auto lanes = static_cast<std::int64_t>(simd::lanes<T>);
    constexpr std::int64_t chains = 4; // sums that do not wait for each other
    T sum = 0;
    std::int64_t k = 0;
    if (count >= chains * lanes) {
        simd::Vector<T> const zero = {};
        simd::Vector<T> sums[chains] = {};
        for (; count - k >= chains * lanes; k += chains * lanes) {
            for (std::int64_t c = 0; c < chains; ++c) {
                sums[c] = simd::multiply_add<T>(simd::load(y + k + c * lanes), zero, sums[c]);
            }
        }
        sum = simd::sum<T>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    for (; k < count; ++k) {
        sum += y[k] * 0;
    }
    return sum;
}

/// Multiplies by a kernel of a format that fills rows up, and computes those that are not finite
/// again by `row_product(a, row, x)`, without what fills them up: 0 times infinity is NaN, which
/// the matrix does not ask for. Only `filled` units, which have `unit_rows` rows each, are looked
/// at, some after they were written, so that they are still in a near cache.
template <class T, class View, class RowProduct>
void multiply_without_fill(RangeKernel<View, T>* kernel, RowProduct const& row_product,
                           std::span<sparse::FilledUnits const> filled, std::int32_t unit_rows,
                           View const& a, T const* x, T* y, Range units)
{
    constexpr std::int32_t rows_at_once = 2048; // a multiple of those that a kernel takes at once
    auto const* next = filled.data();
    auto const* const last = next + filled.size();
    next = std::partition_point(next, last, [&](auto const& u) { return u.end <= units.begin; });
    while (units.begin < units.end) {
        std::int32_t const end =
            units.begin + std::min(rows_at_once / unit_rows, units.end - units.begin);
        kernel(a, x, y, {units.begin, end});
        auto const for_rows = [&](auto const& visit) {
            for (auto const* u = next; u < last && u->begin < end; ++u) {
                visit(std::int64_t{std::max(u->begin, units.begin)} * unit_rows,
                      std::min<std::int64_t>(a.rows,
                                             std::int64_t{std::min(u->end, end)} * unit_rows));
            }
        };
        T sum = 0;
        for_rows([&](std::int64_t from, std::int64_t to) {
            sum += zero_if_finite(y + from, to - from);
        });
        if (!(sum == 0)) {
            for_rows([&](std::int64_t from, std::int64_t to) {
                for (auto row = static_cast<std::int32_t>(from); row < to; ++row) {
                    if (!(y[row] * 0 == 0)) {
                        y[row] = row_product(a, row, x);
                    }
                }
            });
        }
        while (next < last && next->end <= end) {
            ++next;
        }
        units.begin = end;
    }
}

} // namespace
} // namespace spmv
