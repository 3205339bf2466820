#pragma once

#include <cstddef>
#include <vector>

namespace ceilings {

/// Elements on which one thread's multiply-add chains work: 12 vectors of 64 bytes, which is a
/// whole number of blocks of 12 chains for every vector width.
template <class T>
inline constexpr std::size_t fma_elements = 12 * 64 / sizeof(T);

/// The kernels of one thread, compiled for one instruction set. Pointers need the alignment of `T`
/// only; arrays do not overlap; `count` may be 0. The kernels themselves are in `simd_kernels.hpp`.
template <class T>
struct InstructionSet
{
    char const* name; ///< "avx512", "avx2", "sse2" or "neon"

    /// Sum of `a[i] * b[i]`, read in order.
    T (*read_simd)(T const* a, T const* b, std::size_t count);

    /// Sum of `a[i] * b[i]`, each array read from its start and from its middle at once.
    T (*read_four_streams)(T const* a, T const* b, std::size_t count);

    void (*copy_simd)(T const* a, T* c, std::size_t count);
    void (*copy_streaming_stores)(T const* a, T* c, std::size_t count);

    /// `a[i] = b[i] + scalar * c[i]`.
    void (*triad_simd)(T* a, T const* b, T scalar, T const* c, std::size_t count);
    void (*triad_streaming_stores)(T* a, T const* b, T scalar, T const* c, std::size_t count);

    /// `sum[i] = start[i] + steps * x * y`, one fused multiply-add for each step; `fma_elements<T>`
    /// elements.
    void (*fma_chains)(T const* start, T x, T y, std::size_t steps, T* sum);

    /// The same work, one vector after the other: each addition waits for the one before.
    void (*fma_one_chain)(T const* start, T x, T y, std::size_t steps, T* sum);
};

/// The instruction sets that this CPU and its operating system support, the widest first; never
/// empty. `T` is float or double.
template <class T>
std::vector<InstructionSet<T>> instruction_sets();

/// The widest of `instruction_sets`: for arithmetic.
template <class T>
InstructionSet<T> const& widest();

/// The set for kernels that wait for memory: vectors of half a line where the CPU has them. Whole
/// lines load no faster, and on the AVX-512 machine where both were compared they store more
/// slowly.
template <class T>
InstructionSet<T> const& for_memory();

} // namespace ceilings
