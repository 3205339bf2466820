#pragma once

#include <algorithm>
#include <limits>

namespace base {

/// Seconds of some work done in two ways, each the least of some rounds.
struct Duel
{
    double challenger = std::numeric_limits<double>::max();
    double holder = std::numeric_limits<double>::max();
};

/// Times two ways to do the same in rounds, in which each begins in turn; after three, only if they
/// are nearly alike. Either function returns seconds, as timed now.
//! [duel]
template <class Challenger, class Holder>
Duel duel(Challenger const& challenger, Holder const& holder)
{
    constexpr int rounds = 5;
    constexpr int enough = 3;
    constexpr double clearly = 1.15;
    Duel least;
    for (int round = 0; round < rounds; ++round) {
        for (int turn = 0; turn < 2; ++turn) {
            if (turn == round % 2) {
                least.challenger = std::min(least.challenger, challenger());
            } else {
                least.holder = std::min(least.holder, holder());
            }
        }
        auto const [low, high] = std::minmax(least.challenger, least.holder);
        if (round + 1 >= enough && high > clearly * low) {
            break;
        }
    }
    return least;
}
//! [duel]

/// Of two that are alike, the first stays.
inline constexpr double by_chance = 0.98;

/// Seconds that may be spent on finding a faster way where one time takes `once` so far: a quarter
/// of the times that are expected, and no more than four hundred.
inline double allowed_seconds(double times, double once)
{
    return std::min(times / 4, 400.0) * once;
}

/// Times of `once` seconds that are timed as one, so that a clock can tell.
inline int calls_of(double once, double round_s = 10e-6)
{
    return static_cast<int>(std::clamp(round_s / once, 1.0, 100.0));
}

} // namespace base
