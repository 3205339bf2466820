#include "bench/conditions.hpp"

#include <algorithm>
#include <cstdint>

namespace bench {

Conditions::Conditions(Check check, base::Random& random, std::deque<Operand>& inputs,
                       Declared& common, std::vector<Prepared> const& prepared)
    : check_{check}, random_{random}, inputs_{inputs}, common_{common}
{
    for (auto const& one : prepared) {
        variants_.push_back(one.variant);
        targets_.insert({one.facts().runs, one.facts().results});
    }
}

void Conditions::refill()
{
    for (auto& input : inputs_) {
        input.refill({check_, random_.next()});
    }
    common_.refilled();
    for (auto const* variant : variants_) {
        variant->refilled();
    }
    for (auto& output : common_.outputs()) {
        output.wanted.reset();
        if (output.expectation.whole) {
            output.wanted = output.expectation.whole();
        }
    }
}

std::deque<Operand>& Conditions::outputs_of(Variant& variant)
{
    return variant.outputs().empty() ? common_.outputs() : variant.outputs();
}

void Conditions::reset(Variant const& variant) const
{
    common_.reset();
    variant.reset();
}

bool Conditions::has_reset(Variant const& variant) const
{
    return common_.has_reset() || variant.has_reset();
}

void Conditions::poison()
{
    auto const each = [this](auto action) {
        std::ranges::for_each(common_.outputs(), action);
        for (auto* variant : variants_) {
            std::ranges::for_each(variant->outputs(), action);
        }
    };
    bool is_elsewhere = false;
    each([&](Operand& output) {
        for (auto* const target : targets_) {
            is_elsewhere = is_elsewhere || output.is_beyond(*target);
        }
    });
    if (is_elsewhere) {
        finish();
    }
    each([](Operand& output) { output.poison(); });
}

void Conditions::finish() const
{
    for (auto* const target : targets_) {
        target->finish();
    }
}

void Conditions::restore_caches(Prepared const& next)
{
    auto& runs = *next.facts().runs;
    auto& results = *next.facts().results;
    reset(*next.variant);
    auto const calls = next.is_cold ? 0 : next.settling;
    for (std::uint64_t call = 0; call < calls; ++call) {
        next.call();
        reset(*next.variant);
    }
    poison();
    for (auto* const target : targets_) {
        if (target != &runs) {
            target->finish();
        }
    }
    if (next.is_cold && &results != &runs) {
        results.flush();
    }
    if (next.is_cold) {
        runs.flush();
    }
}

} // namespace bench
