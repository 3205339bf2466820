#pragma once

#include "ceilings/device_memory.hpp"
#include "ceilings/reference.hpp"
#include "cuda/stream.hpp"

#include <cstddef>
#include <span>

namespace ceilings {

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
