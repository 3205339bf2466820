#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sparse {

/// Products of two 64-bit numbers.
__extension__ using Uint128 = unsigned __int128;

/// Reproducible random integers: the SplitMix64 generator of Steele, Lea and Flood (2014).
///
/// Only integer arithmetic, so a seed gives the same numbers with every compiler and library, which
/// the distributions of the standard library do not promise. One stream for each row of a matrix
/// makes the matrix independent of how rows are dealt to threads.
class Random
{
public:
    /// The sequence that starts at `seed`.
    constexpr explicit Random(std::uint64_t seed) : state_{seed} {}

    /// Stream number `stream` of `seed`.
    constexpr Random(std::uint64_t seed, std::uint64_t stream)
        : state_{mixed(mixed(seed) + (stream + 1) * increment)}
    {
    }

    /// 64 random bits.
    constexpr std::uint64_t next()
    {
        state_ += increment;
        return mixed(state_);
    }

    /// A number in [0, `bound`); 0 if `bound` is 0. Favours some numbers by at most `bound` / 2^64.
    constexpr std::uint64_t below(std::uint64_t bound)
    {
        return static_cast<std::uint64_t>((static_cast<Uint128>(next()) * bound) >> 64);
    }

private:
    static constexpr std::uint64_t increment = 0x9e3779b97f4a7c15;

    static constexpr std::uint64_t mixed(std::uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

/// Fills `out` with distinct numbers of [begin, end) in ascending order, every subset equally
/// likely; `out` has at most `end - begin` elements. Floyd's method: one random number for each
/// element.
template <class I>
void sample(Random& random, I begin, I end, std::span<I> out)
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
