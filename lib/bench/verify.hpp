#pragma once

#include "bench/trial.hpp"

#include <string>
#include <vector>

namespace bench {

/// What is known of a variant's results so far.
struct Verdict
{
    bool passed = true;
    std::string reason; ///< why it failed, or why a check does not apply
    double error = 0;   ///< largest error in units of its bound
    std::vector<std::string> checks;

    void fail(std::string why)
    {
        passed = false;
        reason = std::move(why);
    }
};

/// Compares all elements and notes the outcome in `verdict`; `occasion` says when, for the reason
/// of a failure. Exact: equality. Bounded: `!(error <= bound)` fails, so NaN never passes.
void compare(Check check, Expected const& expected, std::vector<double> const& actual,
             std::string const& occasion, Verdict& verdict);

} // namespace bench
