#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"

#include "spmv/formats/blocked_coo/blocked_coo.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace spmv {
namespace {

/// Entries of the matrix are prefetched so far ahead, first into the second-level cache, then into
/// the first: the scattered accesses to `y` lead the hardware's own prefetchers astray.
constexpr std::int32_t blocked_coo_far = 512;
constexpr std::int32_t blocked_coo_near = 64;

//! [blocked_coo]
template <class T, class Index>
void blocked_coo(sparse::BlockedCooView<T, Index> const& a, T const* x, T* y, Range strips)
{
    using Place = sparse::Place<Index>;
    constexpr int row_shift = 8 * sizeof(Index);
    constexpr auto line = static_cast<std::int32_t>(64 / std::max(sizeof(T), sizeof(Place)));
    Place const* places = a.places.data();
    T const* values = a.values.data();
    for (std::int32_t strip = strips.begin; strip < strips.end; ++strip) {
        T* strip_y = y + a.strip_row[strip];
        std::int32_t const rows = a.strip_row[strip + 1] - a.strip_row[strip];
        for (std::int32_t i = 0; i < rows; ++i) {
            strip_y[i] = 0;
        }
        for (std::int32_t t = a.strip_tile[strip]; t < a.strip_tile[strip + 1]; ++t) {
            T const* tile_x = x + a.tiles[t].column;
            std::int32_t const end = a.tiles[t + 1].begin;
            std::int32_t p = a.tiles[t].begin;
            for (; end - p >= line; p += line) {
                __builtin_prefetch(values + p + blocked_coo_far, 0, 2);
                __builtin_prefetch(places + p + blocked_coo_far, 0, 2);
                __builtin_prefetch(values + p + blocked_coo_near);
                __builtin_prefetch(places + p + blocked_coo_near);
                for (std::int32_t q = p; q < p + line; q += 4) {
                    Place const at[] = {places[q], places[q + 1], places[q + 2], places[q + 3]};
                    T const product0 = values[q] * tile_x[static_cast<Index>(at[0])];
                    T const product1 = values[q + 1] * tile_x[static_cast<Index>(at[1])];
                    T const product2 = values[q + 2] * tile_x[static_cast<Index>(at[2])];
                    T const product3 = values[q + 3] * tile_x[static_cast<Index>(at[3])];
                    strip_y[at[0] >> row_shift] += product0;
                    strip_y[at[1] >> row_shift] += product1;
                    strip_y[at[2] >> row_shift] += product2;
                    strip_y[at[3] >> row_shift] += product3;
                }
            }
            for (; p < end; ++p) {
                T const product = values[p] * tile_x[static_cast<Index>(places[p])];
                strip_y[places[p] >> row_shift] += product;
            }
        }
    }
}
//! [blocked_coo]

} // namespace
} // namespace spmv
