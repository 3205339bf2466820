#pragma once

namespace base {

/// What one call must do at least: the same for every variant of a trial.
struct Work
{
    double flops = 0;
    double bytes = 0;      ///< compulsory traffic: every operand once
    double operations = 0; ///< what a call repeats (barriers, loads) where the time of one counts
};

} // namespace base
