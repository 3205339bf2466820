#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"

#include "spmv/formats/gather_dot.hpp"

#include "simd/quad.hpp"
#include "sparse/csr.hpp"

#include <cstdint>

namespace spmv {
namespace {

//! [csr]
template <Ahead ahead, class T>
void csr(sparse::CsrView<T> const& a, T const* x, T* y, Range rows)
{
    if constexpr (simd::has_gather_instructions) {
        for (std::int32_t i = rows.begin; i < rows.end; ++i) {
            std::int32_t const p = a.row_ptr[i];
            y[i] =
                gather_dot<ahead>(a.values.data() + p, x, a.col.data() + p, a.row_ptr[i + 1] - p);
        }
        return;
    }
    constexpr auto four = static_cast<std::int32_t>(simd::quad_lanes<T>);
    std::int32_t const* col = a.col.data();
    T const* values = a.values.data();
    std::int32_t p = rows.begin < rows.end ? a.row_ptr[rows.begin] : 0;
    for (std::int32_t i = rows.begin; i < rows.end; ++i) {
        std::int32_t const end = a.row_ptr[i + 1];
        prefetch_ahead<ahead>(values + p);
        prefetch_ahead<ahead>(col + p);
        T total = 0;
        if (end - p >= 2 * four) {
            simd::Quad<T> even = {};
            simd::Quad<T> odd = {};
            for (; end - p >= 2 * four; p += 2 * four) {
                prefetch_ahead<ahead>(values + p);
                prefetch_ahead<ahead>(col + p);
                even = simd::multiply_add_quad<T>(simd::load_quad(values + p),
                                                  simd::gather_quad(x, col + p), even);
                odd = simd::multiply_add_quad<T>(simd::load_quad(values + p + four),
                                                 simd::gather_quad(x, col + p + four), odd);
            }
            if (end - p >= four) {
                even = simd::multiply_add_quad<T>(simd::load_quad(values + p),
                                                  simd::gather_quad(x, col + p), even);
                p += four;
            }
            total = simd::sum_quad<T>(even + odd);
        }
        for (; p < end; ++p) {
            total += values[p] * x[col[p]];
        }
        y[i] = total;
    }
}
//! [csr]

} // namespace
} // namespace spmv
