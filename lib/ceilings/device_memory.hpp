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
/// `2 * sizeof(T)` bytes an element.
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

} // namespace ceilings
