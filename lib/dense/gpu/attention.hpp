#pragma once

#include "base/half.hpp"
#include "cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// \file
/// Attention of one new word over a cache of keys and values, on GPUs: what a language model does
/// in each layer for each new word. Every head of the query compares itself with all keys of its
/// head, and gets the mean of their values, weighted by the softmax of `scale` times the products.

namespace dense::gpu {

/// Elements of a head: of a query, a key, a value.
constexpr std::int64_t head_size = 128;

/// The most heads of the query that may share a head of keys and values.
constexpr std::int64_t most_sharing = 8;

/// Sizes. Heads `h * sharing` to `(h + 1) * sharing - 1` of the query share head h of the cache.
struct AttentionShape
{
    std::int64_t batch = 1;  ///< sequences, each with a cache of its own
    std::int64_t heads = 64; ///< of the query
    std::int64_t shared = 8; ///< heads of keys and values, a divisor of `heads`
    std::int64_t words = 0;  ///< in the cache, the new one among them: the same for all sequences
};

/// Where things are, in the current device's memory, without gaps and at multiples of 16 bytes.
struct AttentionOperands
{
    base::bf16 const* query = nullptr;  ///< batch x heads x 128
    base::bf16 const* keys = nullptr;   ///< batch x shared x words x 128
    base::bf16 const* values = nullptr; ///< as keys
    base::bf16* result = nullptr;       ///< as the query
};

/// What `attention_decode` is asked for beside.
struct AttentionOptions
{
    float scale = 0.08838834764831845f; ///< of products of query and keys: 1 / sqrt(128)

    /// As many bytes as `attention_workspace_bytes` says, at a multiple of 256, for nobody else
    /// until the work is done; where there are none they come from the device's pool.
    std::span<std::byte> workspace = {};

    /// Into how many parts each sequence is split, which different blocks read and a second kernel
    /// puts together; 0: as many as keep all multiprocessors busy.
    std::int64_t parts = 0;
};

/// Attention of one new word. Products and sums are made in float, weights are rounded to bf16
/// before they meet the values, as in FlashAttention (Dao et al., 2022; split over the sequence as
/// Dao et al., "Flash-Decoding", 2023), and the result once more. A NaN among the keys or in the
/// query makes the results of its heads NaN, a NaN among the values that element of them; results
/// repeat bit for bit.
///
/// Everything is put into `stream`, and nothing waits for the device. Throws std::invalid_argument
/// for sizes below 1, more than `most_sharing` heads that share one, or a number of heads that
/// shared ones do not divide; more words than 2^31 - 1, or elements than memory can have; null or
/// unaligned pointers; a result that overlaps an operand; a scale that is not finite; a negative
/// number of parts or more than there are words; a workspace that is too small or not aligned; and
/// before compute capability 8.0. Throws cuda::Error if a kernel cannot be launched or the pool has
/// too little memory.
void attention_decode(AttentionShape const& shape, AttentionOperands const& operands,
                      cuda::Stream const& stream, AttentionOptions const& options = {});

/// Bytes of workspace that this needs on the current device; none where there is only one part.
std::size_t attention_workspace_bytes(AttentionShape const& shape,
                                      AttentionOptions const& options = {});

} // namespace dense::gpu
