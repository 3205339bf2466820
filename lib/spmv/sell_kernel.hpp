#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include "spmv/parts.hpp"

#include "simd/vector.hpp"
#include "sparse/sell.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace spmv {
namespace {

/// What a kernel asks for before it needs it.
enum class Ahead
{
    nothing,
    matrix,
    matrix_and_vector
};

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
    T sum[sparse::sell_height<T>];
    store_all(sums, sum);
    for (std::int32_t lane = 0; lane < rows; ++lane) {
        y[order[lane]] = sum[lane];
    }
}

/// Adds unit steps in which every lane takes part; returns where the values end.
//! [sell]
template <class T, class Stored>
[[gnu::always_inline]] inline Stored const*
add_whole_steps(ChunkSums<T>& sums, Stored const* values, T const* x, std::int32_t const* offsets,
                std::uint32_t steps)
{
    constexpr int lanes = ChunkSums<T>::lanes;
    for (std::uint32_t s = 0; s < steps; ++s) {
        T const* xs = x + offsets[s];
#pragma GCC unroll 4
        for (int v = 0; v < ChunkSums<T>::vectors; ++v, xs += lanes, values += lanes) {
            sums.part[v] =
                simd::multiply_add<T>(simd::load_as<T>(values), simd::load<T>(xs), sums.part[v]);
        }
    }
    return values;
}

/// Adds unit steps in which some lanes take part; returns where the values end.
template <class T, class Stored>
[[gnu::always_inline]] inline Stored const*
add_unit_steps(ChunkSums<T>& sums, Stored const* values, T const* x, std::int32_t const* offsets,
               std::uint16_t const* masks, std::uint32_t steps)
{
    constexpr int lanes = ChunkSums<T>::lanes;
    for (std::uint32_t s = 0; s < steps; ++s, values += sparse::sell_height<T>) {
        T const* xs = x + offsets[s];
#pragma GCC unroll 4
        for (int v = 0; v < ChunkSums<T>::vectors; ++v) {
            auto const some = simd::load_masked<T>(xs + v * lanes, masks[s] >> (v * lanes));
            sums.part[v] =
                simd::multiply_add<T>(simd::load_as<T>(values + v * lanes), some, sums.part[v]);
        }
    }
    return values;
}

// Inlined always: GCC 12 takes a call that only prefetches for one without effect and drops it.

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

/// Adds steps that gather for every lane, then steps that gather for some.
template <Ahead ahead, class T, class Stored, class Column>
[[gnu::always_inline]] inline Column const*
add_gathering_steps(ChunkSums<T>& sums, Stored const* values, T const* x, Column const* col,
                    std::uint16_t const* masks, std::uint32_t full, std::uint32_t partial)
{
    constexpr int lanes = ChunkSums<T>::lanes;
    for (std::uint32_t s = 0; s < full; ++s) {
#pragma GCC unroll 4
        for (int v = 0; v < ChunkSums<T>::vectors; ++v, col += lanes, values += lanes) {
            sums.part[v] =
                simd::multiply_add<T>(simd::load_as<T>(values), simd::gather(x, col), sums.part[v]);
        }
    }
    for (std::uint32_t s = 0; s < partial; ++s) {
#pragma GCC unroll 4
        for (int v = 0; v < ChunkSums<T>::vectors; ++v, col += lanes, values += lanes) {
            if constexpr (ahead == Ahead::matrix_and_vector) {
                prefetch_gather(x, col);
            }
            auto const some = simd::keep<T>(simd::gather(x, col), masks[s] >> (v * lanes));
            sums.part[v] = simd::multiply_add<T>(simd::load_as<T>(values), some, sums.part[v]);
        }
    }
    return col;
}

/// Asks for `count` elements that lie `ahead` elements behind `from`.
template <class Element>
[[gnu::always_inline]] inline void prefetch_stream(Element const* from, std::size_t ahead,
                                                   std::size_t count)
{
    constexpr std::size_t line = 64 / sizeof(Element);
    for (std::size_t k = 0; k < count; k += line) {
        __builtin_prefetch(from + ahead + k);
    }
}

/// Asks early for what chunks of few steps read. In longer ones hardware sees the streams and keeps
/// up with memory by itself; short ones, between which `y` is written, take 1.2 to 1.5 times as
/// long without this (rows of five and six nonzeros on a core of 2022). From a cache it costs more
/// than it saves.
template <class T, class Stored, class Column>
[[gnu::always_inline]] inline void prefetch_few_steps(sparse::SellPattern const& pattern,
                                                      Stored const* values, Column const* col)
{
    constexpr std::uint32_t few = 8;
    constexpr std::size_t ahead = 3072 / sizeof(T);
    constexpr std::size_t height = sparse::sell_height<T>;
    if (pattern.steps() < few) {
        prefetch_stream(values, ahead, pattern.steps() * height);
        prefetch_stream(col, ahead, (pattern.full + pattern.partial) * height);
    }
}

template <Ahead ahead, class T, class Stored>
void multiply_sell(sparse::SellView<T, Stored> const& a, T const* x, T* y, Range chunks)
{
    constexpr std::int32_t height = sparse::sell_height<T>;
    if (chunks.begin == chunks.end) {
        return;
    }
    auto const begin = a.position(chunks.begin);
    Stored const* values = a.values + begin.values;
    std::uint16_t const* narrow = a.narrow + begin.narrow;
    std::int32_t const* wide = a.wide + begin.wide;
    for (std::int32_t c = chunks.begin; c < chunks.end; ++c) {
        auto const [number, base] = a.chunks[c];
        sparse::SellPattern const& pattern = a.patterns[number & ~sparse::sell_sorted];
        std::int32_t const* offsets = a.offsets + pattern.first_offset;
        std::uint16_t const* masks = a.masks + pattern.first_mask;
        std::int32_t const first = c * height;
        if constexpr (ahead != Ahead::nothing) {
            base < 0 ? prefetch_few_steps<T>(pattern, values, wide)
                     : prefetch_few_steps<T>(pattern, values, narrow);
        }

        ChunkSums<T> sums{};
        values = pattern.whole
                     ? add_whole_steps(sums, values, x + first, offsets, pattern.unit)
                     : add_unit_steps(sums, values, x + first, offsets, masks, pattern.unit);
        if (std::uint32_t const gathering = pattern.full + pattern.partial; gathering > 0) {
            masks += pattern.unit;
            if (base < 0) {
                wide = add_gathering_steps<ahead>(sums, values, x, wide, masks, pattern.full,
                                                  pattern.partial);
            } else {
                narrow = add_gathering_steps<Ahead::nothing>(sums, values, x + base, narrow, masks,
                                                             pattern.full, pattern.partial);
            }
            values += gathering * std::size_t{height};
        }
        std::int32_t const rows = height < a.rows - first ? height : a.rows - first;
        if ((number & sparse::sell_sorted) != 0) {
            std::int32_t const window = first / sparse::sell_window * sparse::sell_window;
            store_permuted(sums, y + window, a.order + first, rows);
        } else {
            store_rows(sums, y + first, rows);
        }
    }
}
//! [sell]

/// For matrices that a cache holds from one multiply to the next.
template <class T, class Stored>
void sell(sparse::SellView<T, Stored> const& a, T const* x, T* y, Range chunks)
{
    multiply_sell<Ahead::nothing>(a, x, y, chunks);
}

/// For matrices that come from memory.
template <class T, class Stored>
void sell_streamed(sparse::SellView<T, Stored> const& a, T const* x, T* y, Range chunks)
{
    multiply_sell<Ahead::matrix>(a, x, y, chunks);
}

/// For those whose elements of `x` come from far too. They are asked for only where columns have 32
/// bits: those within reach of 16 bits are mostly in a cache.
template <class T, class Stored>
void sell_prefetch(sparse::SellView<T, Stored> const& a, T const* x, T* y, Range chunks)
{
    multiply_sell<Ahead::matrix_and_vector>(a, x, y, chunks);
}

} // namespace
} // namespace spmv
