#pragma once

// Included once by each object that is compiled for one instruction set. Everything has internal
// linkage; see `simd/vector.hpp` for why.

#include <cstddef>
#include <cstdint>

namespace spmv {
namespace {

/// What a kernel prefetches.
enum class Ahead
{
    nothing,          ///< caches hold the matrix from one multiply to the next
    matrix,           ///< it comes from memory, and `x` with it as rows go on
    matrix_and_vector ///< as before, and elements of `x` that are gathered come from far too
};

/// The same of a kernel that prefetches no elements of `x`.
constexpr Ahead of_matrix(Ahead ahead)
{
    return ahead == Ahead::nothing ? Ahead::nothing : Ahead::matrix;
}

/// How far ahead of its reads a kernel prefetches the matrix. Hardware sees the streams by itself,
/// but stays closer to them than one core needs to keep memory busy, the more so the more streams
/// there are and where each row interrupts them.
constexpr std::size_t ahead_bytes = 8192;

// Inlined always: GCC 12 takes a call that only prefetches for one without effect and drops it.

/// Prefetches the lines `ahead_bytes` behind these `bytes` bytes, if the matrix comes from memory.
/// What lies behind an array may be prefetched: it is no access.
template <Ahead ahead, std::size_t bytes = 64, class Element>
[[gnu::always_inline]] inline void prefetch_ahead(Element const* from)
{
    if constexpr (ahead != Ahead::nothing) {
        auto const at = reinterpret_cast<std::uintptr_t>(from) + ahead_bytes; // in no array
#pragma GCC unroll 16
        for (std::size_t line = 0; line < bytes; line += 64) {
            __builtin_prefetch(reinterpret_cast<void const*>(at + line));
        }
    }
}

/// Prefetches elements of `x` that rows some way down will be the first to read. `furthest` is the
/// last one that the present rows read; in a band, those below read further. Called once for each
/// chunk, block row or group: hardware loses sight of an `x` that moves on by a line while
/// kilobytes of the matrix go by. Distances of 1 to 8 KiB are alike.
template <Ahead ahead, class T>
[[gnu::always_inline]] inline void prefetch_vector_ahead(T const* furthest)
{
    prefetch_ahead<ahead>(furthest);
}

} // namespace
} // namespace spmv
