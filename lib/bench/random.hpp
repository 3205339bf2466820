#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace bench {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers on every machine, which the
/// standard library's distributions do not promise.
class Random
{
public:
    explicit Random(std::uint64_t seed) : state_{seed} {}

    /// The next 64 random bits.
    std::uint64_t next()
    {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t bits = state_;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
        return bits ^ (bits >> 31);
    }

    /// A number in [0, limit), `limit` < 2^32.
    std::uint64_t below(std::uint64_t limit) { return ((next() >> 32) * limit) >> 32; }

    /// A real in [0, 1).
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    /// Puts the elements into a random order (Fisher and Yates).
    template <class Sequence>
    void shuffle(Sequence& sequence)
    {
        for (std::size_t left = sequence.size(); left > 1; --left) {
            std::swap(sequence[left - 1], sequence[below(left)]);
        }
    }

private:
    std::uint64_t state_;
};

} // namespace bench
