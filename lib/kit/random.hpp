#pragma once

#include "base/random.hpp"

#include <cstdint>

namespace kit {

/// Random numbers of which those that a hand-in has seen tell it no others. base::Random can be run
/// backwards: one number leaves few states that it may come from, and the third says which, so that
/// a kernel would make `x` anew in place of reading it. Two of its streams together, whose states
/// nobody knows, cannot.
class Random
{
public:
    constexpr explicit Random(std::uint64_t seed) : one_{seed, 0}, other_{seed, 1} {}

    /// 64 random bits.
    constexpr std::uint64_t next() { return one_.next() ^ other_.next(); }

    /// A number in [0, `bound`); 0 if `bound` is 0. Favours some numbers by at most `bound` / 2^64.
    constexpr std::uint64_t below(std::uint64_t bound)
    {
        return static_cast<std::uint64_t>((static_cast<base::Uint128>(next()) * bound) >> 64);
    }

    /// A real in [0, 1).
    constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    base::Random one_;
    base::Random other_;
};

} // namespace kit
