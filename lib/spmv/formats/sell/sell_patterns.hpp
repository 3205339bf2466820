#pragma once

#include "spmv/formats/sell/sell.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sparse::detail {

/// The steps of one chunk, before equal ones are shared.
struct ChunkSteps
{
    std::vector<std::int32_t> offsets; ///< of unit steps, relative to the chunk's first row
    std::vector<std::uint16_t> masks;  ///< of unit steps, then of partial gathering steps
    std::uint32_t full = 0;
    std::uint32_t partial = 0;
    std::int32_t base = -1; ///< as in `SellChunk`

    void clear() { *this = {std::move(offsets), std::move(masks)}, offsets.clear(), masks.clear(); }

    /// Bytes that describe it if no other chunk looks alike.
    std::size_t bytes() const
    {
        return sizeof(SellPattern) + offsets.size() * sizeof(std::int32_t) +
               masks.size() * sizeof(std::uint16_t);
    }
};

/// Whether two chunks can share a pattern.
inline bool alike(ChunkSteps const& a, ChunkSteps const& b)
{
    return a.full == b.full && a.offsets == b.offsets && a.masks == b.masks;
}

/// Patterns, each stored once.
class PatternTable
{
public:
    /// Number of the pattern that looks like `steps`, which is added if there is none.
    std::uint32_t number_of(ChunkSteps const& steps)
    {
        return number_of(steps.offsets, steps.masks, steps.full);
    }

    /// Number of pattern `pattern` of another table.
    std::uint32_t number_of(PatternTable const& other, SellPattern const& pattern)
    {
        return number_of(
            std::span{other.offsets_}.subspan(pattern.first_offset, pattern.unit),
            std::span{other.masks_}.subspan(pattern.first_mask, pattern.unit + pattern.partial),
            pattern.full);
    }

    /// Whether a pattern looks like `steps`.
    bool contains(ChunkSteps const& steps) const
    {
        auto const found = numbers_.find(hash(steps.offsets, steps.masks, steps.full));
        return found != numbers_.end() &&
               equals(patterns_[found->second], steps.offsets, steps.masks, steps.full);
    }

    std::span<SellPattern const> patterns() const { return patterns_; }
    std::span<std::int32_t const> offsets() const { return offsets_; }
    std::span<std::uint16_t const> masks() const { return masks_; }

private:
    using Offsets = std::span<std::int32_t const>;
    using Masks = std::span<std::uint16_t const>;

    static std::size_t hash(Offsets offsets, Masks masks, std::uint32_t full)
    {
        auto const text = [](auto elements) {
            return std::string_view{reinterpret_cast<char const*>(elements.data()),
                                    elements.size_bytes()};
        };
        std::hash<std::string_view> const of;
        return (of(text(offsets)) * 31 + of(text(masks))) * 31 + full;
    }

    bool equals(SellPattern const& pattern, Offsets offsets, Masks masks, std::uint32_t full) const
    {
        return pattern.full == full &&
               std::ranges::equal(std::span{offsets_}.subspan(pattern.first_offset, pattern.unit),
                                  offsets) &&
               std::ranges::equal(
                   std::span{masks_}.subspan(pattern.first_mask, pattern.unit + pattern.partial),
                   masks);
    }

    /// Of patterns with equal hashes only the first is found again.
    std::uint32_t number_of(Offsets offsets, Masks masks, std::uint32_t full)
    {
        auto const number = static_cast<std::uint32_t>(patterns_.size());
        auto const [found, is_new] = numbers_.emplace(hash(offsets, masks, full), number);
        if (!is_new && equals(patterns_[found->second], offsets, masks, full)) {
            return found->second;
        }
        patterns_.push_back({static_cast<std::uint32_t>(offsets_.size()),
                             static_cast<std::uint32_t>(masks_.size()),
                             static_cast<std::uint32_t>(offsets.size()), full,
                             static_cast<std::uint32_t>(masks.size() - offsets.size()), false});
        offsets_.insert(offsets_.end(), offsets.begin(), offsets.end());
        masks_.insert(masks_.end(), masks.begin(), masks.end());
        return number;
    }

    std::vector<SellPattern> patterns_;
    std::vector<std::int32_t> offsets_;
    std::vector<std::uint16_t> masks_;
    std::unordered_map<std::size_t, std::uint32_t> numbers_; ///< by hash
};

} // namespace sparse::detail
