#pragma once

#include "dense/gpu/attention.hpp"

#include <string_view>

/// \file
/// What `attention_decode` does with operands that it has looked at, and what it is made of.

namespace dense::gpu {

/// How the work is divided among blocks.
struct AttentionPlan
{
    int parts = 1; ///< of each sequence

    /// Heads of the query that a block computes: those that share keys, or one of them, which then
    /// reads the keys for itself alone.
    int heads = 8;
};

/// Multiplies and adds up as a plan says; the workspace is as large as it takes.
void launch_attention(AttentionShape const& shape, AttentionOperands const& operands,
                      AttentionPlan const& plan, float scale, std::byte* workspace,
                      cuda::Stream const& stream);

/// Bytes of partial results of a plan; none of one part.
std::size_t attention_part_bytes(AttentionShape const& shape, AttentionPlan const& plan);

/// Blocks that the current device keeps at once, and words that a block reads in a turn.
int attention_blocks();
int attention_words_of_turn();

/// Why it is not made for the current device; empty if it is.
std::string_view refuses_attention();

} // namespace dense::gpu
