#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"
#include "spmv/formats/without_fill.hpp"

#include "simd/vector.hpp"
#include "spmv/formats/ell/ell.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv {
namespace {

// By itself: its loop is slower where a compiler puts it into the one that calls it.
template <Ahead ahead, class T>
[[gnu::noinline]] void ell(sparse::EllView<T> const& a, T const* x, T* y, Range rows);

//! [ell]
template <Ahead ahead, class T>
void ell(sparse::EllView<T> const& a, T const* x, T* y, Range rows)
{
    constexpr auto lanes = static_cast<std::int32_t>(simd::lanes<T>);
    auto const stride = static_cast<std::size_t>(a.rows);
    std::int32_t i = rows.begin;
    for (; i + lanes <= rows.end; i += lanes) { // a row in each lane
        simd::Vector<T> sum = {};
        for (std::size_t k = 0; k < static_cast<std::size_t>(a.width); ++k) {
            T const* const values = a.values.data() + k * stride + i;
            std::int32_t const* const column = a.column.data() + k * stride + i;
            prefetch_ahead<ahead>(values);
            prefetch_ahead<ahead>(column);
            sum = simd::multiply_add<T>(simd::load(values), simd::gather(x, column), sum);
        }
        simd::store(y + i, sum);
    }
    for (; i < rows.end; ++i) {
        T sum = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(a.width); ++k) {
            auto const at = k * stride + static_cast<std::size_t>(i);
            sum += a.values[at] * x[a.column[at]];
        }
        y[i] = sum;
    }
}
//! [ell]

/// A row of `y = A x`, without what fills it up.
template <class T>
T ell_row(sparse::EllView<T> const& a, std::int32_t row, T const* x)
{
    T sum = 0;
    for (std::int32_t k = 0; k < a.width; ++k) {
        auto const at = static_cast<std::size_t>(k) * a.rows + row;
        sum += sparse::is_fill(a.values[at]) ? T{0} : a.values[at] * x[a.column[at]];
    }
    return sum;
}

template <Ahead ahead, class T>
void ell_without_fill(sparse::EllView<T> const& a, T const* x, T* y, Range rows)
{
    sparse::FilledUnits const all[] = {{rows.begin, rows.end}};
    multiply_without_fill(ell<ahead, T>, ell_row<T>, a.mostly_filled ? std::span{all} : a.filled, 1,
                          a, x, y, rows);
}

} // namespace
} // namespace spmv
