#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/parts.hpp"

#include "simd/vector.hpp"
#include "sparse/csr.hpp"

#include <cstdint>

namespace spmv {
namespace {

//! [csr]
template <class T>
void csr(sparse::CsrView<T> const& a, T const* x, T* y, Range rows)
{
    constexpr auto lanes = static_cast<std::int32_t>(simd::lanes<T>);
    std::int32_t const* col = a.col.data();
    T const* values = a.values.data();
    std::int32_t p = rows.begin < rows.end ? a.row_ptr[rows.begin] : 0;
    for (std::int32_t i = rows.begin; i < rows.end; ++i) {
        std::int32_t const end = a.row_ptr[i + 1];
        T total = 0;
        if (end - p >= 16) { // fewer do not pay for adding up the lanes
            simd::Vector<T> sums = {};
            for (; end - p >= lanes; p += lanes) {
                auto const xs = simd::gather(x, col + p);
                sums = simd::multiply_add<T>(simd::load(values + p), xs, sums);
            }
            total = simd::sum<T>(sums);
        }
        T other = 0;
        for (; end - p >= 2; p += 2) {
            total += values[p] * x[col[p]];
            other += values[p + 1] * x[col[p + 1]];
        }
        if (p < end) {
            total += values[p] * x[col[p]];
            ++p;
        }
        y[i] = total + other;
    }
}
//! [csr]

} // namespace
} // namespace spmv
