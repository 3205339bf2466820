#pragma once

#include "sparse/allocator.hpp"
#include "sparse/convert.hpp"
#include "sparse/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// Calls `body(unit)` for all 0 <= `unit` < `units` on OpenMP's threads, a stretch of ascending
/// units at a time. Throws what `body` throws for the first stretch that fails.
template <class Body>
void parallel_units(std::int32_t units, Body const& body)
{
    constexpr std::size_t stretch = 1 << 11;
    auto const count = static_cast<std::size_t>(units);
    parallel_for((count + stretch - 1) / stretch, [&](std::size_t k) {
        for (auto u = k * stretch; u < std::min(count, (k + 1) * stretch); ++u) {
            body(static_cast<std::int32_t>(u));
        }
    });
}

/// Where the parts of each unit begin if they lie one behind the other: `units` + 1 offsets, the
/// first 0. `parts(unit)` is called in parallel. Throws `std::length_error` if there are more parts
/// than 32 bits can count.
template <class Parts>
AlignedArray<std::int32_t> offsets(std::int32_t units, Parts const& parts)
{
    AlignedArray<std::int32_t> begin(static_cast<std::size_t>(units) + 1);
    begin[0] = 0;
    parallel_units(units, [&](std::int32_t unit) { begin[unit + 1] = parts(unit); });
    std::size_t total = 0;
    for (std::size_t u = 1; u < begin.size(); ++u) {
        total += static_cast<std::size_t>(begin[u]);
        begin[u] = checked_index<std::int32_t>(total);
    }
    return begin;
}

/// Calls `visit(unit)` for about 4096 units, in stretches of 16 that are evenly spread, or for all
/// units where these are no more.
template <class Visit>
void visit_sample(std::int32_t units, Visit const& visit)
{
    constexpr std::int64_t stretch = 16;
    constexpr std::int64_t stretches = 256;
    if (units <= stretch * stretches) {
        for (std::int32_t u = 0; u < units; ++u) {
            visit(u);
        }
        return;
    }
    for (std::int64_t k = 0; k < stretches; ++k) {
        auto const begin = static_cast<std::int32_t>((units - stretch) * k / (stretches - 1));
        for (std::int32_t u = begin; u < begin + stretch; ++u) {
            visit(u);
        }
    }
}

/// A format whose pieces know only how many values they hold stores how many lie before every 64th
/// piece, its checkpoints: a multiply that begins at some unit soon knows where its values are,
/// however many pieces the units before it have.
inline constexpr std::int32_t checkpoint_distance = 64;

/// Room for the checkpoints of `pieces` pieces with `values` values in all; `note_checkpoint` has
/// to be called for each piece.
inline AlignedArray<std::int32_t> checkpoints(std::size_t pieces, std::size_t values)
{
    AlignedArray<std::int32_t> room;
    room.assign(pieces / checkpoint_distance + 1, checked_index<std::int32_t>(values));
    return room;
}

/// Stores, where that is a checkpoint, that `values` values lie before `piece`.
inline void note_checkpoint(AlignedArray<std::int32_t>& checkpoint, std::int32_t piece,
                            std::ptrdiff_t values)
{
    if (piece % checkpoint_distance == 0) {
        checkpoint[piece / checkpoint_distance] = static_cast<std::int32_t>(values);
    }
}

/// Values before `piece`, if piece `k` has `values(k)`.
template <class Values>
std::int32_t values_before(std::span<std::int32_t const> checkpoint, std::int32_t piece,
                           Values const& values)
{
    std::int32_t const near = piece / checkpoint_distance;
    std::int32_t before = checkpoint[near];
    for (std::int32_t k = near * checkpoint_distance; k < piece; ++k) {
        before += values(k);
    }
    return before;
}

/// Bytes of all elements of some arrays.
template <class... Arrays>
std::size_t bytes_of(Arrays const&... arrays)
{
    return (0 + ... + (arrays.size() * sizeof(arrays[0])));
}

} // namespace sparse
