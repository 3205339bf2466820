#pragma once

#include "base/random.hpp"
#include "bench/conditions.hpp"
#include "bench/prepared.hpp"
#include "bench/run.hpp"
#include "bench/verification.hpp"

#include <cstdint>
#include <vector>

namespace bench {

/// How the verified variants of a trial are timed: calls of a sample, and rounds in which all of
/// them take turns.
class Rounds
{
public:
    Rounds(Run& run, base::Random& random, Conditions& conditions, Verification const& verification)
        : run_{run}, random_{random}, conditions_{conditions}, verification_{verification}
    {
    }

    /// Adds second runs of some variants, so that the experiment has enough A/A pairs.
    void add_twins(std::vector<Prepared>& all) const;

    /// Samples of all, in shuffled rounds; in one of them what a timed call left is checked too.
    /// For each round in which a sample was disturbed there is one more, up to a quarter of all: if
    /// more than a fifth are disturbed, that is how this machine is, and no round is better.
    void time(std::vector<Prepared>& all);

private:
    std::uint64_t calls_in(double seconds, double pace) const;
    void choose_calls(Prepared& prepared);
    bool take_round(std::vector<Prepared*>& order, bool is_audit);
    bool take_sample(Prepared& prepared);
    bool note(Prepared& prepared, Disturbances const& before, Disturbances const& after);

    Run& run_;
    base::Random& random_;
    Conditions& conditions_;
    Verification const& verification_;
};

} // namespace bench
