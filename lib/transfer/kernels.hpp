#pragma once

#include "cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// Kernels that read and write what was copied, for experiments and tests. All pointers are such
// that the device can read: its own memory, or the host's in mapped pages.

namespace transfer {

/// Copies by the multiprocessors instead of a copy engine, 16 bytes at a time, with so many blocks.
/// Both must be aligned to 16 bytes and `count` a multiple of 4.
void copy_by_cores(float const* from, float* to, std::size_t count, unsigned blocks,
                   cudaStream_t stream);

/// `sums[r]` is the sum of row `r * every` of x, which has rows of `columns` elements, a multiple
/// of 128; between two elements of a sum a thread does `steps` additions that change nothing.
void row_sums(float const* x, std::size_t columns, std::size_t every, int steps,
              std::span<double> sums, cudaStream_t stream);

/// `sums[r]` is the product of row r of a and row r of b, as above.
void row_products(float const* a, float const* b, std::size_t columns, std::span<double> sums,
                  cudaStream_t stream);

/// `sums[r]` is the sum of row r of x, whose rows of `width` elements lie so many bytes apart.
void pitched_row_sums(float const* x, std::size_t pitch, std::size_t width, std::span<double> sums,
                      cudaStream_t stream);

/// out[i] = in[i] + sqrt(sin(first + i)^2 + cos(first + i)^2), which is in[i] + 1: the kernel of
/// article 4 with the functions that it should have.
void add_one_by_sines(float const* in, float* out, std::size_t first, std::size_t count,
                      cudaStream_t stream);

/// The same with asin and acos as in the article's listing, which are NaN beyond 1.
void add_one_by_arcs(float const* in, float* out, std::size_t first, std::size_t count,
                     cudaStream_t stream);

/// c[i] = the sum of a[i], a[i + 1], a[i + 2] and of the same of b, where the neighbours are those
/// at (i + 1) % 256 and (i + 2) % 256 as in article 4, and of what `steps` steps of
/// s = 1664525 s + 1013904223 make of zero, modulo 2^32.
void neighbour_sums(std::int32_t const* a, std::int32_t const* b, std::int32_t* c,
                    std::size_t count, int steps, cudaStream_t stream);

/// Holds a stream until the host sets `*released`, which lies in mapped pages, to other than zero.
/// Gives up after about a
/// second.
void hold(int const* released, cudaStream_t stream);

} // namespace transfer
