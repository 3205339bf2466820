#pragma once

#include "ceilings/reference.hpp"
#include "cuda/stream.hpp"

#include <cstddef>
#include <span>

namespace ceilings {

// Kernels that do nothing but move data on a GPU. Spans are in its memory, except where said;
// kernels are put into `stream`. `T` is float or double. What reads a table runs in a block of
// `device_threads` for each element of `sums`, and writes there what the block read; the table
// repeats `period` values, so that no sum depends on its size.

inline constexpr unsigned device_threads = 256;
inline constexpr std::size_t period = 256;

/// As many blocks as all multiprocessors of the current device can hold at once, if 2048 threads
/// fit into one.
unsigned device_blocks();

/// Bytes of an array that no last-level cache of the current device holds: four times as many at
/// least, a power of two.
std::size_t beyond_l2();

/// Bytes of an array that fills at most two thirds of that cache, a power of two.
std::size_t within_l2();

/// Fills `table` with repetitions of the `period` elements of `values`.
template <class T>
void device_repeat(std::span<T const> values, std::span<T> table, cuda::Stream const& stream);

/// `b[i] = a[i]`, in vectors of 16 bytes; spans have the same length and begin on 16 bytes. Moves
/// `2 * sizeof(T)` bytes an element. `T` may be std::uint16_t, too.
template <class T>
void device_copy(std::span<T const> a, std::span<T> b, cuda::Stream const& stream);

/// Bytes that `device_read` loads in a block: `steps` vectors of 16 bytes in each thread.
constexpr double device_read_bytes(unsigned steps)
{
    return 16.0 * steps * device_threads;
}

/// Reads through `table`, a power of two of elements and at least 4 KiB, again and again, without
/// first-level caches. `steps` is a multiple of four.
template <class T>
void device_read(std::span<T const> table, unsigned steps, std::span<T> sums,
                 cuda::Stream const& stream);

/// What `device_read` writes, of the `period` values on the host.
template <class T>
Expected device_read_reference(std::span<T const> values, unsigned blocks, unsigned steps);

/// Elements that `device_gather` loads in a block: `steps` in each thread.
constexpr double device_gather_count(unsigned steps)
{
    return 1.0 * steps * device_threads;
}

/// Reads elements of `table`, a power of two and at least `period` of them, in no order. `steps` is
/// a multiple of four.
template <class T>
void device_gather(std::span<T const> table, unsigned steps, std::span<T> sums,
                   cuda::Stream const& stream);

/// What `device_gather` writes, of the `period` values on the host.
template <class T>
Expected device_gather_reference(std::span<T const> values, unsigned blocks, unsigned steps);

// What the multiprocessors of a GPU can do without its memory: kernels are put into `stream`, spans
// are in its memory, except where said. `T` is float or double.

/// Words of shared memory that a block reads again and again.
inline constexpr std::size_t shared_words = 1024;

/// Bytes that `device_shared` loads in a block: `steps` words in each thread.
template <class T>
constexpr double device_shared_bytes(unsigned steps)
{
    return static_cast<double>(sizeof(T)) * steps * device_threads;
}

/// Reads the `shared_words` elements of `values` from shared memory, one word or 16 bytes
/// (`is_wide`) at a time, each warp from all banks. `steps` is a multiple of 4096. A block of
/// `device_threads` for each element of `sums` writes there what it read.
template <class T>
void device_shared(std::span<T const> values, unsigned steps, bool is_wide, std::span<T> sums,
                   cuda::Stream const& stream);

/// What `device_shared` writes, of the values on the host.
template <class T>
Expected device_shared_reference(std::span<T const> values, unsigned blocks, unsigned steps);

/// Chains of multiply-adds that a thread of `device_fma` has under way.
inline constexpr unsigned device_chains = 8;
/// Multiply-adds of each chain; sums of products of the integers 1 to 3 stay exact in fp32.
inline constexpr unsigned device_fma_steps = 1u << 14;

/// Floating-point operations of one thread of `device_fma`: two for each multiply-add.
inline constexpr double device_fma_flops = 2.0 * device_chains * device_fma_steps;

/// Adds `device_fma_steps` products `x * y` to each of the `device_chains` elements of `start`, in
/// registers, and writes their sum for each thread: `sums` has whole blocks of `device_threads`.
template <class T>
void device_fma(std::span<T const> start, T x, T y, std::span<T> sums, cuda::Stream const& stream);

/// What `device_fma` writes, of operands on the host.
template <class T>
Expected device_fma_reference(std::span<T const> start, T x, T y, std::size_t sums);

/// Warps take the numbers of `taken.size()` elements from a counter that they share, `chunk` at a
/// time, and set the elements to 1. Starts with a counter of zero.
template <class T>
void device_take(unsigned* counter, unsigned chunk, std::span<T> taken, cuda::Stream const& stream);

/// As many launches as `marks` has elements: each sets one element to 1.
template <class T>
void device_launches(std::span<T> marks, cuda::Stream const& stream);

} // namespace ceilings
