#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "sparse/formats/ahead.hpp"
#include "sparse/formats/parts.hpp"

#include "simd/vector.hpp"
#include "sparse/formats/ell/ell.hpp"

#include <cstddef>
#include <cstdint>

namespace spmv {
namespace {

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

} // namespace
} // namespace spmv
