#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/prefetch.hpp"

#include "simd/vector.hpp"

#include <cstdint>

namespace spmv {
namespace {

/// `values[0] * x[index[0]] + ...` over `count` products, by gather instructions; without them only
/// declared.
template <Ahead ahead, class T, class Index>
T gather_dot(T const* values, T const* x, Index const* index, std::int32_t count);

#if defined(SIMD_GATHER_INSTRUCTIONS)
template <Ahead ahead, class T, class Index>
[[gnu::always_inline]] inline T gather_dot(T const* values, T const* x, Index const* index,
                                           std::int32_t count)
{
    constexpr auto lanes = static_cast<std::int32_t>(simd::lanes<T>);
    constexpr std::int32_t few = 4; // products, for fewer a sum over lanes does not pay
    prefetch_ahead<ahead>(values);
    prefetch_ahead<ahead>(index);
    if (count < few) {
        T total = 0;
        for (std::int32_t k = 0; k < count; ++k) {
            total += values[k] * x[index[k]];
        }
        return total;
    }
    simd::Vector<T> even = {};
    simd::Vector<T> odd = {};
    std::int32_t k = 0;
    for (; count - k >= 2 * lanes; k += 2 * lanes) {
        prefetch_ahead<ahead, 2 * lanes * sizeof(T)>(values + k);
        prefetch_ahead<ahead, 2 * lanes * sizeof(Index)>(index + k);
        even = simd::multiply_add<T>(simd::load(values + k), simd::gather(x, index + k), even);
        odd = simd::multiply_add<T>(simd::load(values + k + lanes),
                                    simd::gather(x, index + k + lanes), odd);
    }
    if (count - k >= lanes) {
        even = simd::multiply_add<T>(simd::load(values + k), simd::gather(x, index + k), even);
        k += lanes;
    }
    if (auto const rest = static_cast<std::size_t>(count - k); rest > 0) {
        odd = simd::multiply_add<T>(simd::load_first(values + k, rest),
                                    simd::gather_first(x, index + k, rest), odd);
    }
    return simd::sum<T>(even + odd);
}
#endif

} // namespace
} // namespace spmv
