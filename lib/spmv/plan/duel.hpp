#pragma once

#include "spmv/plan/cache_sweep.hpp"

#include <algorithm>
#include <limits>

namespace spmv {

/// A clock, in seconds from any beginning.
using Clock = double (*)();

/// Seconds of a multiply, after one that brings into the caches what was taken out, or where
/// `sweep` is not null after what empties them; the largest number if the clock stood still or went
/// back.
template <class Multiply>
double seconds_of(Multiply const& multiply, int calls, Clock clock, CacheSweep* sweep)
{
    multiply();
    if (sweep != nullptr) {
        (*sweep)();
        calls = 1;
    }
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
/// are nearly alike. Either function returns seconds of a multiply, as timed now.
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

/// Seconds that timing and converting may take together where CSR takes `csr` for a multiply: a
/// quarter of the expected multiplies, and no longer than four hundred.
inline double allowed_seconds(double multiplies, double csr)
{
    return std::min(multiplies / 4, 400.0) * csr;
}

/// Multiplies of `once` seconds that are timed as one, so that a clock can tell.
inline int calls_of(double once, double round_s = 10e-6)
{
    return static_cast<int>(std::clamp(round_s / once, 1.0, 100.0));
}

} // namespace spmv
