#pragma once

#include "base/half.hpp"
#include "cuda/stream.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// \file
/// Softmax over the rows of a matrix on a GPU. All memory is the device's, rows follow each other
/// without a gap, and work is put into `stream`. `T` is base::fp16, base::bf16, float or double;
/// sums are made in float, of doubles in double. In float, what is below 2^-126 may become 0.
///
/// A row with a NaN or +infinity, or of nothing but -infinity, becomes NaN, as in PyTorch and
/// cuDNN.

namespace dense::gpu {

/// What becomes of each row.
enum class Softmax
{
    probabilities, ///< exp(x - max) / sum
    logarithms     ///< x - max - log(sum)
};

/// `y = softmax(x)` of `rows` rows of `columns` elements, in the fastest way known here. `x` and
/// `y` may be the same, and begin at any element. Throws std::invalid_argument for sizes that are
/// negative or that no memory has, for a null pointer to elements, and where `y` overlaps a part of
/// `x`; cuda::Error if it cannot be launched.
template <class T>
void softmax(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
             cuda::Stream const& stream);

/// A way to compute it.
template <class T>
struct SoftmaxStep
{
    using Call = void (*)(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                          cuda::Stream const& stream);

    std::string_view name;
    Call call;
    /// Whether it can be launched for rows of so many elements.
    bool (*takes)(std::int64_t columns);
};

/// The ways: a warp for each row, a block with the row in shared memory (by elements in packs of 1,
/// of 2 and of up to 16 bytes), a block that reads the row again instead, one that reads it once
/// for maximum and sum together, clusters of blocks, and a row in the registers of as many threads
/// as it takes.
template <class T>
std::vector<SoftmaxStep<T>> softmax_steps();

/// The same kernel of 256 threads with packs of two (one where the count is odd), and the ways to
/// lay them out in shared memory: in columns, side by side, side by side by single accesses; and in
/// columns again, but with threads that take packs which follow each other in memory, so that a
/// warp's loads are not coalesced.
template <class T>
std::vector<SoftmaxStep<T>> softmax_layouts();

/// Threads of a block that the article's rule takes for a row in shared memory: of 1024, 512 and
/// 256 the first with as many resident blocks on a multiprocessor as 128 has, else 128; 0 if the
/// row does not fit.
template <class T>
int block_size_by_occupancy(std::int64_t columns);

/// As the step with packs of up to 16 bytes, with blocks of so many threads (128, 256, 512 or
/// 1024).
template <class T>
void softmax_of_block_size(Softmax what, T const* x, T* y, std::int64_t rows, std::int64_t columns,
                           int threads, cuda::Stream const& stream);

} // namespace dense::gpu
