#pragma once

#include "bench/conditions.hpp"
#include "bench/prepared.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// "exact" or "bounded", as it stands in records.
std::string name_of(Check check);

/// How results of the prepared variants of a trial are compared with what is expected.
class Verification
{
public:
    /// A check passes only if it passes on every rank of the `team`.
    Verification(Check check, Team& team) : check_{check}, team_{team} {}

    /// Does what belongs to a variant; `when` is for the reason of a failure. A variant that throws
    /// has failed; the trial goes on, but not in a team, where others may wait for what it would
    /// have sent.
    void guarded(Prepared& prepared, std::string const& when,
                 std::function<void()> const& action) const;

    /// Two calls of each variant that passed so far with different inputs, each with poisoned
    /// outputs.
    void verify(std::vector<Prepared>& all, Conditions& conditions) const;

    /// Checks what the last call of a variant left in its outputs.
    void check_results(Prepared& prepared, std::string const& when, Conditions& conditions) const;

private:
    std::string occasion(std::string const& when) const;

    Check check_;
    Team& team_;
};

} // namespace bench
