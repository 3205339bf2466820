#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace base {

/// Products of two 64-bit numbers.
__extension__ using Uint128 = unsigned __int128;

/// Reproducible random numbers: the SplitMix64 generator of Steele, Lea and Flood (OOPSLA 2014).
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

    /// A real in [0, 1).
    constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    /// Puts the elements into a random order (Fisher and Yates).
    template <class Sequence>
    constexpr void shuffle(Sequence& sequence)
    {
        for (std::size_t left = sequence.size(); left > 1; --left) {
            std::swap(sequence[left - 1], sequence[below(left)]);
        }
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

} // namespace base
