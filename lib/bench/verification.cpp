#include "bench/verification.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace bench {

std::string name_of(Check check)
{
    return check == Check::exact ? "exact" : "bounded";
}

std::string Verification::occasion(std::string const& when) const
{
    return fmt::format("{} check, {}", name_of(check_), when);
}

void Verification::guarded(Prepared& prepared, std::string const& when,
                           std::function<void()> const& action) const
{
    std::string thrown;
    try {
        action();
        return;
    } catch (std::exception const& error) {
        thrown = error.what();
    } catch (...) {
        thrown = "something that is no std::exception";
    }
    auto const what = fmt::format("{} threw: {}", occasion(when), thrown);
    if (team_.size() > 1) {
        throw std::runtime_error{fmt::format("{}: {}", prepared.facts().name, what)};
    }
    prepared.verdict.fail(what);
}

void Verification::verify(std::vector<Prepared>& all, Conditions& conditions) const
{
    for (int call = 1; call <= 2; ++call) {
        conditions.refill();
        auto const when = fmt::format("call {}", call);
        for (auto& one : all) {
            if (one.verdict.passed) {
                conditions.reset(*one.variant);
                conditions.poison();
                guarded(one, when, one.call);
            }
            if (one.verdict.passed) {
                check_results(one, when, conditions);
            }
        }
    }
    for (auto& one : all) {
        one.verdict.checks.push_back(name_of(check_));
    }
}

void Verification::check_results(Prepared& prepared, std::string const& when,
                                 Conditions& conditions) const
{
    auto& outputs = conditions.outputs_of(*prepared.variant);
    auto& verdict = prepared.verdict;
    auto const& facts = prepared.facts();
    auto const text = occasion(when);
    if (outputs.empty()) {
        throw std::logic_error{fmt::format("variant '{}' has no output", facts.name)};
    }
    conditions.finish();
    for (auto& output : outputs) {
        if (!output.expectation) {
            throw std::logic_error{
                fmt::format("an output of variant '{}' has no expected result", facts.name)};
        }
        compare(check_, output, output.checked_at(*facts.results), text, verdict);
    }
    if (!team_.all(verdict.passed) && verdict.passed) {
        verdict.fail(text + ": wrong on another rank");
    }
}

} // namespace bench
