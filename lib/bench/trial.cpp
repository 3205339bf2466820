#include "bench/trial.hpp"

#include "base/output.hpp"
#include "bench/case_record.hpp"
#include "bench/conditions.hpp"
#include "bench/prepared.hpp"
#include "bench/rounds.hpp"
#include "bench/run.hpp"
#include "bench/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace bench {

Trial::Trial(Run& run, Check check)
    : run_{run}, check_{check},
      random_{base::Random{run.settings.seed + 0x1000 * run.point.index}.next()}
{
}

template <class T>
T const& Trial::at(std::string const& axis) const
{
    auto const& all = run_.point.at;
    auto const found = std::ranges::find(all, axis, &Coordinates::value_type::first);
    if (found == all.end() || !std::holds_alternative<T>(found->second)) {
        throw std::logic_error{fmt::format("the study has no such axis '{}'", axis)};
    }
    return std::get<T>(found->second);
}
template std::string const& Trial::at(std::string const&) const;
template std::int64_t const& Trial::at(std::string const&) const;
template double const& Trial::at(std::string const&) const;

int Trial::threads() const
{
    return run_.settings.threads;
}

bool Trial::is_test() const
{
    return run_.settings.profile == "tiny";
}

bool Trial::only_adds_samples() const
{
    return run_.settings.again;
}

Target& Trial::usual() const
{
    return run_.point.selection->study->usual();
}

bool Trial::is_cold() const
{
    return is_cold(usual());
}
bool Trial::is_cold(Target& where) const
{
    auto const own = cache_there_.find(&where);
    auto const chosen = own == cache_there_.end() ? cache_ : own->second;
    return chosen == Cache::cold ||
           (chosen == Cache::automatic && work_.bytes > static_cast<double>(where.cache_bytes()));
}

void Trial::dataset(std::string const& name, std::string const& sha256,
                    std::vector<std::pair<std::string, double>> const& features)
{
    Json numbers = Json::object();
    for (auto const& [feature, value] : features) {
        numbers[feature] = value;
    }
    run_.point.measured["datasets"][to_text(name)] = {{"sha256", sha256}, {"features", numbers}};
}

Operand& Trial::add_input(ElementType const& type, std::size_t count, void* values)
{
    auto& operand = inputs_.emplace_back(type, count, false);
    if (values != nullptr) {
        operand.adopt(host(), static_cast<std::byte*>(values));
    }
    operand.refill(fill());
    return operand;
}

Variant& Trial::declare(std::string const& name, Variant::Setup setup, std::string missing)
{
    if (!names_.insert(name).second) {
        throw std::logic_error{fmt::format("two variants are called '{}'", name)};
    }
    auto& takers = std::regex_search(name, run_.filter) ? variants_ : left_out_;
    return takers.emplace_back(name, usual(), std::move(setup), std::move(missing));
}

void Trial::run()
{
    require_complete();
    if (run_.settings.list) {
        list();
        return;
    }
    run_.pacer.turn("prepare");
    if (check_ == Check::exact) {
        check_exactly();
    } else {
        check_within_bounds_and_time();
    }
}

void Trial::require_complete()
{
    if (!std::ranges::all_of(outputs(),
                             [](auto const& output) { return bool{output.expectation}; })) {
        throw std::logic_error{"an output has no expected result"};
    }
    for (auto const& variant : variants_) {
        if (!variant.is_missing()) {
            marked_text(variant.facts());
        }
    }
}

void Trial::list() const
{
    for (auto const& variant : variants_) {
        auto const reason = why_not(variant);
        base::print(fmt::format("  {} ({}){}{}\n", variant.facts().name, variant.facts().group,
                                reason.empty() ? "" : ": ", reason));
    }
}

/// Why a variant does not take part; empty if it does.
std::string Trial::why_not(Variant const& variant) const
{
    if (variant.is_missing()) {
        return variant.missing();
    }
    auto const unsuited = run_.point.unsuited.find(variant.facts().name);
    if (unsuited != run_.point.unsuited.end()) {
        return unsuited->second;
    }
    auto const missing = variant.facts().runs->missing();
    return missing.empty() ? variant.facts().results->missing() : missing;
}

Prepared Trial::prepare(Variant& variant, Verification const& verification)
{
    auto const& name = variant.facts().name;
    auto& unsuited = run_.point.unsuited;
    Prepared prepared{.variant = &variant,
                      .is_cold = is_cold(*variant.facts().runs),
                      .verdict = run_.point.exact[name]};
    if (prepared.verdict.passed) {
        verification.guarded(prepared, "setup", [&] {
            prepared.setup_seconds = prepared.clock().setup_seconds([&] {
                try {
                    prepared.call = variant.set_up();
                } catch (NotApplicable const& reason) {
                    unsuited[name] = reason.what();
                }
            });
        });
    }
    if (!run_.team.all(!unsuited.contains(name))) {
        unsuited.try_emplace(name, "not applicable on another rank");
    }
    if (!prepared.call || unsuited.contains(name)) {
        variant.withdraw();
    }
    return prepared;
}

std::vector<Prepared> Trial::prepare_all(Verification const& verification)
{
    std::vector<Prepared> all;
    for (auto& variant : variants_) {
        if (why_not(variant).empty()) {
            auto prepared = prepare(variant, verification);
            if (why_not(variant).empty()) {
                all.push_back(std::move(prepared));
            }
        }
    }
    return all;
}

void Trial::check_exactly()
{
    Verification const verification{check_, run_.team};
    auto all = prepare_all(verification);
    if (inexact_.empty()) {
        Conditions conditions{check_, random_, inputs_, *this, all};
        verification.verify(all, conditions);
    }
    for (auto const& one : all) {
        auto verdict = one.verdict;
        verdict.reason = verdict.passed ? inexact_ : verdict.reason;
        run_.point.exact[one.facts().name] = verdict;
    }
}

void Trial::check_within_bounds_and_time()
{
    Verification const verification{check_, run_.team};
    auto all = prepare_all(verification);
    for (auto const& variant : variants_) {
        if (auto const reason = why_not(variant); !reason.empty()) {
            record_skipped(variant.facts(), reason, run_.point);
        }
    }
    Conditions conditions{check_, random_, inputs_, *this, all};
    verification.verify(all, conditions);
    auto const record = [this](Prepared const& one) { record_case(one, work_, run_); };
    auto const failed = std::stable_partition(
        all.begin(), all.end(), [](Prepared const& one) { return one.verdict.passed; });
    std::for_each(failed, all.end(), record);
    all.erase(failed, all.end());
    if (!all.empty()) {
        Rounds rounds{run_, random_, conditions, verification};
        if (!is_profiled()) { // nobody asks what a twin counts
            rounds.add_twins(all);
        }
        rounds.time(all);
    }
    std::ranges::for_each(all, record);
}

} // namespace bench
