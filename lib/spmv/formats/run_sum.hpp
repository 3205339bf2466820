#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/prefetch.hpp"

#include "simd/vector.hpp"

#include <cstdint>

namespace spmv {
namespace {

/// A sum of products of neighbours in the matrix with neighbours in `x`.
template <class T>
struct RunSum
{
    simd::Vector<T> sums = {};
    T rest = 0;

    /// Adds `values[k] * x[k]` for 0 <= k < `count`; reads nothing beyond.
    template <Ahead ahead>
    void add(T const* values, T const* x, std::int32_t count)
    {
        constexpr auto lanes = static_cast<std::int32_t>(simd::lanes<T>);
        prefetch_ahead<ahead>(values);
        for (; count > lanes; count -= lanes, values += lanes, x += lanes) {
            prefetch_ahead<ahead>(values + lanes);
            sums = simd::multiply_add<T>(simd::load(values), simd::load(x), sums);
        }
        if constexpr (simd::has_masked_loads) {
            auto const length = static_cast<std::size_t>(count);
            sums = simd::multiply_add<T>(simd::load_first(values, length),
                                         simd::load_first(x, length), sums);
        } else {
            for (std::int32_t k = 0; k < count; ++k) {
                rest += values[k] * x[k];
            }
        }
    }

    T total() const { return simd::sum<T>(sums) + rest; }
};

} // namespace
} // namespace spmv
