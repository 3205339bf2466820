#pragma once

#include "bench/operand.hpp"
#include "bench/record.hpp"

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

/// As it stands in records.
void to_json(Json& json, Verdict const& verdict);

/// Compares all elements of an output, as they are in the memory of `where`, block by block, and
/// notes the outcome in `verdict`; `occasion` says when, for the reason of a failure. Exact:
/// equality. Bounded: `!(error <= bound)` fails, so NaN never passes.
///
/// Beside the data it needs memory for some blocks of 2^20 elements, unless the expectation is
/// given as a whole. Throws std::logic_error if what is expected cannot be compared with.
void compare(Check check, Operand& output, Target& where, std::string const& occasion,
             Verdict& verdict);

} // namespace bench
