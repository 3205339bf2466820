#pragma once

#include "base/random.hpp"
#include "bench/prepared.hpp"

#include <deque>
#include <set>
#include <vector>

namespace bench {

/// What the calls of a trial find when they begin: values in the inputs, poison in the outputs, and
/// the state of caches and queues.
class Conditions
{
public:
    /// Of the variants that were `prepared`; `common` is what the trial declares for all of them.
    Conditions(Check check, base::Random& random, std::deque<Operand>& inputs, Declared& common,
               std::vector<Prepared> const& prepared);

    /// New values for all inputs and what is derived from them, and what is then expected.
    void refill();

    /// What a variant must overwrite: what it has of its own takes the place of the trial's.
    std::deque<Operand>& outputs_of(Variant& variant);

    /// Restores operands that are changed in place.
    void reset(Variant const& variant) const;

    /// Whether there are such operands, so that one call makes a sample.
    bool has_reset(Variant const& variant) const;

    /// Every copy of every output on every target, also those of other variants: else one could
    /// pass by fetching its neighbour's result. What was queued may still write a copy in other
    /// memory than its target's own, so that it is waited for; where there is none, the poison is
    /// queued behind it.
    void poison();

    /// Waits until all targets have done their work.
    void finish() const;

    /// Resets and poisons. Warm: some calls before, so that what fits is in the caches. Cold:
    /// evicts everything, also where results go: with the host's caches as they were, products that
    /// left `y` there took up to twice as long (`fem3-gpu` on an H100: 0.46 ms, not 0.26). The
    /// poison stays until the timed call overwrites it. What other targets were told to do is done
    /// before; what this one was told may be queued, so that the call begins without a gap.
    void restore_caches(Prepared const& next);

private:
    Check check_;
    base::Random& random_;
    std::deque<Operand>& inputs_;
    Declared& common_;
    std::vector<Variant*> variants_;
    std::set<Target*> targets_; ///< of these variants
};

} // namespace bench
