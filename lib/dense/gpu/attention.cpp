#include "dense/gpu/attention.hpp"

#include "base/bytes.hpp"
#include "cuda/workspace.hpp"
#include "dense/gpu/attention_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>

namespace dense::gpu {

namespace {

constexpr std::size_t alignment = 256; ///< of workspaces

[[noreturn]] void refuse(std::string const& found)
{
    throw std::invalid_argument{"dense::gpu::attention_decode: found " + found};
}

void require(AttentionShape const& shape)
{
    auto const text = std::to_string(shape.batch) + " sequences of " + std::to_string(shape.words) +
                      " words, " + std::to_string(shape.heads) + " heads over " +
                      std::to_string(shape.shared);
    if (std::min({shape.batch, shape.heads, shape.shared, shape.words}) < 1) {
        refuse(text + ", expected no size below 1");
    }
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (shape.heads % shape.shared != 0 || shape.heads / shape.shared > most_sharing) {
        refuse(text + ", expected each to be shared by as many, and at most " +
               std::to_string(most_sharing));
    }
    // Blocks of heads are counted in 32 bits, parts of them too.
    if (shape.words > most || shape.batch > most / shape.heads ||
        shape.words > static_cast<std::int64_t>(base::most_bytes / sizeof(base::bf16)) / head_size /
                          (shape.batch * shape.shared)) {
        refuse(text + ", expected no more than memory can have");
    }
}

std::size_t bytes_of_cache(AttentionShape const& shape)
{
    return static_cast<std::size_t>(shape.batch * shape.shared * shape.words * head_size) *
           sizeof(base::bf16);
}

void require(AttentionShape const& shape, AttentionOperands const& operands)
{
    for (void const* const at : std::initializer_list<void const*>{
             operands.query, operands.keys, operands.values, operands.result}) {
        if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % 16 != 0) {
            refuse(std::string{at == nullptr ? "a null pointer"
                                             : "a pointer between two multiples"
                                               " of 16"} +
                   ", expected memory that begins at one");
        }
    }
    auto const bytes =
        static_cast<std::size_t>(shape.batch * shape.heads * head_size) * sizeof(base::bf16);
    if (base::overlap(operands.query, bytes, operands.result, bytes) ||
        base::overlap(operands.keys, bytes_of_cache(shape), operands.result, bytes) ||
        base::overlap(operands.values, bytes_of_cache(shape), operands.result, bytes)) {
        refuse("a result in memory of an operand, expected memory of its own");
    }
}

void require(AttentionShape const& shape, AttentionOptions const& options)
{
    if (!std::isfinite(options.scale)) {
        refuse("a scale that is not finite, expected a number");
    }
    if (options.parts < 0 || options.parts > shape.words) {
        refuse(std::to_string(options.parts) + " parts of " + std::to_string(shape.words) +
               " words, expected no more parts than words");
    }
}

/// As many parts as give all multiprocessors a block, unless a part then has less to read than a
/// turn of its warps.
AttentionPlan plan_of(AttentionShape const& shape, AttentionOptions const& options)
{
    AttentionPlan plan{1, static_cast<int>(shape.heads / shape.shared)};
    auto const turns = (shape.words + attention_words_of_turn() - 1) / attention_words_of_turn();
    auto const fit = attention_blocks() / (shape.batch * shape.shared);
    plan.parts = static_cast<int>(options.parts > 0 ? options.parts
                                                    : std::clamp<std::int64_t>(fit, 1, turns));
    return plan;
}

} // namespace

std::size_t attention_workspace_bytes(AttentionShape const& shape, AttentionOptions const& options)
{
    require(shape);
    require(shape, options);
    return attention_part_bytes(shape, plan_of(shape, options));
}

void attention_decode(AttentionShape const& shape, AttentionOperands const& operands,
                      cuda::Stream const& stream, AttentionOptions const& options)
{
    require(shape);
    require(shape, operands);
    require(shape, options);
    if (auto const why = refuses_attention(); !why.empty()) {
        refuse("a device that cannot: " + std::string{why});
    }
    auto const plan = plan_of(shape, options);
    auto const bytes = attention_part_bytes(shape, plan);
    auto const given = options.workspace;
    bool const has_given = !given.empty();
    if (has_given &&
        (given.size() < bytes || reinterpret_cast<std::uintptr_t>(given.data()) % alignment != 0)) {
        refuse("a workspace of " + std::to_string(given.size()) + " bytes, expected " +
               std::to_string(bytes) + " at a multiple of " + std::to_string(alignment));
    }
    cuda::Workspace const own{has_given ? 0 : bytes, stream};
    launch_attention(shape, operands, plan, options.scale, has_given ? given.data() : own.data(),
                     stream);
}

} // namespace dense::gpu
