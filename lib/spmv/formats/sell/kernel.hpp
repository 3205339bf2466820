#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/formats/parts.hpp"
#include "spmv/formats/prefetch.hpp"

#include "simd/vector.hpp"
#include "spmv/formats/sell/sell.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace spmv {
namespace {

/// The sums of a chunk's rows, in as many vectors as hold a cache line.
template <class T>
struct ChunkSums
{
    static constexpr int lanes = static_cast<int>(simd::lanes<T>);
    static constexpr int vectors = sparse::sell_height<T> / lanes;

    simd::Vector<T> part[vectors];
};

/// Writes the sums of all lanes.
template <class T>
[[gnu::always_inline]] inline void store_all(ChunkSums<T> const& sums, T* to)
{
#pragma GCC unroll 4
    for (int v = 0; v < ChunkSums<T>::vectors; ++v) {
        simd::store(to + v * ChunkSums<T>::lanes, sums.part[v]);
    }
}

/// Writes the sums of `rows` consecutive rows.
template <class T>
[[gnu::always_inline]] inline void store_rows(ChunkSums<T> const& sums, T* y, std::int32_t rows)
{
    if (rows == sparse::sell_height<T>) {
        store_all(sums, y);
        return;
    }
    T sum[sparse::sell_height<T>];
    store_all(sums, sum);
    for (std::int32_t lane = 0; lane < rows; ++lane) {
        y[lane] = sum[lane];
    }
}

/// Writes the sum of lane k to `y[order[k]]` for `rows` lanes.
template <class T>
[[gnu::always_inline]] inline void store_permuted(ChunkSums<T> const& sums, T* y,
                                                  std::uint8_t const* order, std::int32_t rows)
{
    constexpr std::int32_t height = sparse::sell_height<T>;
    T sum[height];
    store_all(sums, sum);
    // Tests for each lane whether it has a row take up to a twentieth of the time where there are
    // sixteen lanes. For eight, a second loop costs more, in registers of the loops around it.
    if (std::is_same_v<T, float> && rows == height) {
#pragma GCC unroll 16
        for (std::int32_t lane = 0; lane < height; ++lane) {
            y[order[lane]] = sum[lane];
        }
        return;
    }
    for (std::int32_t lane = 0; lane < rows; ++lane) {
        y[order[lane]] = sum[lane];
    }
}

/// Adds the unit steps of `count` chunks of one pattern; returns where the values of the last end.
//! [sell]
template <Ahead ahead, int count, class T, class Stored>
[[gnu::always_inline]] inline Stored const*
add_unit_steps(ChunkSums<T> (&sums)[count], Stored const* values, T const* x,
               std::int32_t const* offsets, std::uint16_t const* masks,
               sparse::SellPattern const& pattern)
{
    constexpr int lanes = ChunkSums<T>::lanes;
    constexpr std::size_t height = sparse::sell_height<T>;
    std::size_t const chunk = pattern.unit * height;
    auto const add = [&](std::uint32_t s, auto const& load) __attribute__((always_inline))
    {
        T const* xs = x + offsets[s];
        prefetch_ahead<ahead>(values);
#pragma GCC unroll 4
        for (int c = 0; c < count; ++c) {
#pragma GCC unroll 4
            for (int v = 0; v < ChunkSums<T>::vectors; ++v) {
                auto const stored = simd::load_as<T>(values + c * chunk + v * lanes);
                sums[c].part[v] = simd::multiply_add<T>(
                    stored, load(xs + c * height + v * lanes, v), sums[c].part[v]);
            }
        }
        values += height;
    };
    if (pattern.whole) { // every lane takes part
        for (std::uint32_t s = 0; s < pattern.unit; ++s) {
            add(s, [](T const* from, int) { return simd::load<T>(from); });
        }
    } else {
        for (std::uint32_t s = 0; s < pattern.unit; ++s) {
            add(s, [&](T const* from, int v) {
                return simd::load_masked<T>(from, masks[s] >> (v * lanes));
            });
        }
    }
    return values + (count - 1) * chunk;
}

/// Asks for the elements of `x` that are gathered some steps later.
template <class T, class Column>
[[gnu::always_inline]] inline void prefetch_gather(T const* x, Column const* col)
{
    constexpr std::int32_t distance = sparse::sell_lookahead * sparse::sell_height<T>;
#pragma GCC unroll 16
    for (std::size_t lane = 0; lane < simd::lanes<T>; ++lane) {
        __builtin_prefetch(x + col[distance + lane]);
    }
}

/// Adds steps that gather for every lane, then steps that gather for some; returns where the
/// columns end.
template <Ahead ahead, class T, class Stored, class Column>
[[gnu::always_inline]] inline Column const*
add_gathering_steps(ChunkSums<T>& sums, Stored const* values, T const* x, Column const* col,
                    std::uint16_t const* masks, sparse::SellPattern const& pattern)
{
    constexpr int lanes = ChunkSums<T>::lanes;
    auto const add = [&](auto const& taken) __attribute__((always_inline))
    {
        prefetch_ahead<ahead>(values);
        prefetch_ahead<ahead>(col);
#pragma GCC unroll 4
        for (int v = 0; v < ChunkSums<T>::vectors; ++v, col += lanes, values += lanes) {
            if constexpr (ahead == Ahead::matrix_and_vector) {
                prefetch_gather(x, col);
            }
            sums.part[v] = simd::multiply_add<T>(simd::load_as<T>(values),
                                                 taken(simd::gather(x, col), v), sums.part[v]);
        }
    };
    auto const add_full = [&]() __attribute__((always_inline))
    {
        add([](simd::Vector<T> const& all, int) { return all; });
    };
    std::uint32_t s = 0;
    for (; s + 2 <= pattern.full; s += 2) { // two for each turn of the loop
        add_full();
        add_full();
    }
    if (s < pattern.full) {
        add_full();
    }
    for (s = 0; s < pattern.partial; ++s) {
        add([&](simd::Vector<T> const& all, int v) {
            return simd::keep<T>(all, masks[s] >> (v * lanes));
        });
    }
    return col;
}

template <Ahead ahead, class T, class Stored>
void sell(sparse::SellView<T, Stored> const& a, T const* x, T* y, Range chunks)
{
    // From memory, few streams are faster than many; and there have to be registers for all sums.
    constexpr bool in_groups = ahead == Ahead::nothing && ChunkSums<T>::vectors <= 2;
    // Elements within reach of 16 bits are mostly in a cache.
    constexpr Ahead near = ahead == Ahead::nothing ? Ahead::nothing : Ahead::matrix;
    constexpr std::int32_t height = sparse::sell_height<T>;
    if (chunks.begin == chunks.end) {
        return;
    }
    auto const begin = a.position(chunks.begin);
    Stored const* values = a.values + begin.values;
    std::uint16_t const* narrow = a.narrow + begin.narrow;
    std::int32_t const* wide = a.wide + begin.wide;
    for (std::int32_t c = chunks.begin; c < chunks.end; ++c) {
        sparse::SellChunk const chunk = a.chunks[c];
        sparse::SellPattern const& pattern = a.patterns[chunk.pattern()];
        std::int32_t const* offsets = a.offsets + pattern.first_offset;
        std::uint16_t const* masks = a.masks + pattern.first_mask;
        std::int32_t const first = c * height;
        if constexpr (in_groups) {
            if (chunk.begins_group() && chunks.end - c >= sparse::sell_group) {
                ChunkSums<T> group[sparse::sell_group] = {};
                values = add_unit_steps<ahead>(group, values, x + first, offsets, masks, pattern);
#pragma GCC unroll 4
                for (int k = 0; k < sparse::sell_group; ++k) {
                    store_all(group[k], y + first + k * height);
                }
                c += sparse::sell_group - 1;
                continue;
            }
        }
        if (pattern.unit > 0) {
            prefetch_vector_ahead<ahead>(x + first + offsets[pattern.unit - 1]);
        }
        ChunkSums<T> sums[1] = {};
        values = add_unit_steps<ahead>(sums, values, x + first, offsets, masks, pattern);
        if (std::uint32_t const gathering = pattern.full + pattern.partial; gathering > 0) {
            masks += pattern.unit;
            if (chunk.base < 0) {
                wide = add_gathering_steps<ahead>(sums[0], values, x, wide, masks, pattern);
            } else {
                narrow = add_gathering_steps<near>(sums[0], values, x + chunk.base, narrow, masks,
                                                   pattern);
            }
            values += gathering * std::size_t{height};
        }
        std::int32_t const rows = height < a.rows - first ? height : a.rows - first;
        if (chunk.sorted()) {
            std::int32_t const window = first / sparse::sell_window * sparse::sell_window;
            store_permuted(sums[0], y + window, a.order + first, rows);
        } else {
            store_rows(sums[0], y + first, rows);
        }
    }
}
//! [sell]

} // namespace
} // namespace spmv
