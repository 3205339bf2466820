#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"

#include "spmv/formats/gather_dot.hpp"

#include "simd/quad.hpp"
#include "spmv/formats/delta_csr/delta_csr.hpp"

#include <cstdint>

namespace spmv {
namespace {

//! [delta_csr]
template <Ahead ahead, class T>
void delta_csr(sparse::DeltaCsrView<T> const& a, T const* x, T* y, Range rows)
{
    if constexpr (simd::has_gather_instructions) {
        for (std::int32_t i = rows.begin; i < rows.end; ++i) {
            std::int32_t const p = a.row_ptr[i];
            y[i] = gather_dot<ahead>(a.values.data() + p, x + a.first[i], a.offset.data() + p,
                                     a.row_ptr[i + 1] - p);
        }
        return;
    }
    constexpr auto four = static_cast<std::int32_t>(simd::quad_lanes<T>);
    std::int32_t const* row_ptr = a.row_ptr.data();
    std::int32_t const* first = a.first.data();
    std::uint16_t const* offset = a.offset.data();
    T const* values = a.values.data();
    std::int32_t p = row_ptr[rows.begin];
    for (std::int32_t i = rows.begin; i < rows.end; ++i) {
        std::int32_t const end = row_ptr[i + 1];
        T const* xs = x + first[i];
        prefetch_ahead<ahead>(values + p);
        prefetch_ahead<ahead>(offset + p);
        T total = 0;
        if (end - p >= 2 * four) {
            simd::Quad<T> even = {};
            simd::Quad<T> odd = {};
            for (; end - p >= 2 * four; p += 2 * four) {
                prefetch_ahead<ahead>(values + p);
                prefetch_ahead<ahead>(offset + p);
                even = simd::multiply_add_quad<T>(simd::load_quad(values + p),
                                                  simd::gather_quad(xs, offset + p), even);
                odd = simd::multiply_add_quad<T>(simd::load_quad(values + p + four),
                                                 simd::gather_quad(xs, offset + p + four), odd);
            }
            if (end - p >= four) {
                even = simd::multiply_add_quad<T>(simd::load_quad(values + p),
                                                  simd::gather_quad(xs, offset + p), even);
                p += four;
            }
            total = simd::sum_quad<T>(even + odd);
        }
        for (; p < end; ++p) {
            total += values[p] * xs[offset[p]];
        }
        y[i] = total;
    }
}
//! [delta_csr]

} // namespace
} // namespace spmv
