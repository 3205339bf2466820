#pragma once

#include <algorithm>
#include <limits>

namespace spmv {

/// A clock, in seconds from any beginning.
using Clock = double (*)();

/// Seconds of a multiply, of which one comes before that brings into the caches what was taken out;
/// the largest number if the clock stood still or went back.
template <class Multiply>
double seconds_of(Multiply const& multiply, int calls, Clock clock)
{
    multiply();
    double const begin = clock();
    for (int call = 0; call < calls; ++call) {
        multiply();
    }
    double const taken = (clock() - begin) / calls;
    return taken > 0 ? taken : std::numeric_limits<double>::max();
}

/// Seconds of a multiply in two ways, each the least of some rounds.
struct Duel
{
    double challenger = std::numeric_limits<double>::max();
    double holder = std::numeric_limits<double>::max();
};

/// Times two ways to multiply in rounds, in which each begins in turn; after three, only if they
/// are nearly alike.
//! [duel]
template <class Challenger, class Holder>
Duel duel(Challenger const& challenger, Holder const& holder, Clock clock)
{
    constexpr int rounds = 7;
    constexpr int enough = 3;
    constexpr double clearly = 1.15;
    constexpr double round_s = 20e-6;
    double const once = seconds_of(challenger, 1, clock);
    auto const calls = static_cast<int>(std::clamp(round_s / once, 1.0, 100.0));
    Duel least;
    for (int round = 0; round < rounds; ++round) {
        for (int turn = 0; turn < 2; ++turn) {
            bool const challenges = turn == round % 2;
            double& time = challenges ? least.challenger : least.holder;
            time = std::min(time, challenges ? seconds_of(challenger, calls, clock)
                                             : seconds_of(holder, calls, clock));
        }
        auto const [low, high] = std::minmax(least.challenger, least.holder);
        if (round + 1 >= enough && high > clearly * low) {
            break;
        }
    }
    return least;
}
//! [duel]

} // namespace spmv
