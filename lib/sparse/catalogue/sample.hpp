#pragma once

#include "base/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// Fills `out` with distinct numbers of [begin, end) in ascending order, every subset equally
/// likely; `out` has at most `end - begin` elements. Floyd's method: one random number for each
/// element.
template <class I>
void sample(base::Random& random, I begin, I end, std::span<I> out)
{
    auto candidates = static_cast<std::uint64_t>(end - begin) - out.size();
    for (std::size_t drawn = 0; drawn < out.size(); ++drawn, ++candidates) {
        auto const last = out.begin() + static_cast<std::ptrdiff_t>(drawn);
        auto const pick = static_cast<I>(begin + static_cast<I>(random.below(candidates + 1)));
        auto const place = std::lower_bound(out.begin(), last, pick);
        if (place != last && *place == pick) {
            *last = static_cast<I>(begin + static_cast<I>(candidates));
        } else {
            std::copy_backward(place, last, last + 1);
            *place = pick;
        }
    }
}

} // namespace sparse
