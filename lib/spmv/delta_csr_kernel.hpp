#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/parts.hpp"

#include "simd/vector.hpp"
#include "sparse/delta_csr.hpp"

#include <cstdint>

namespace spmv {
namespace {

//! [delta_csr]
template <class T>
void delta_csr(sparse::DeltaCsrView<T> const& a, T const* x, T* y, Range rows)
{
    constexpr auto lanes = static_cast<std::int32_t>(simd::lanes<T>);
    std::int32_t const* row_ptr = a.row_ptr.data();
    std::int32_t const* first = a.first.data();
    std::uint16_t const* offset = a.offset.data();
    T const* values = a.values.data();
    std::int32_t p = row_ptr[rows.begin];
    for (std::int32_t i = rows.begin; i < rows.end; ++i) {
        std::int32_t const end = row_ptr[i + 1];
        T const* xs = x + first[i];
        T total = 0;
        if (end - p >= 2 * lanes) {
            simd::Vector<T> sums = {};
            for (; end - p >= lanes; p += lanes) {
                sums = simd::multiply_add<T>(simd::load(values + p), simd::gather(xs, offset + p),
                                             sums);
            }
            total = simd::sum<T>(sums);
        }
        T other = 0;
        for (; end - p >= 2; p += 2) {
            total += values[p] * xs[offset[p]];
            other += values[p + 1] * xs[offset[p + 1]];
        }
        if (p < end) {
            total += values[p] * xs[offset[p]];
            ++p;
        }
        y[i] = total + other;
    }
}
//! [delta_csr]

} // namespace
} // namespace spmv
