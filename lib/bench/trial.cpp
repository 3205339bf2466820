#include "bench/trial.hpp"

#include "base/output.hpp"
#include "bench/entry.hpp"
#include "bench/provenance.hpp"
#include "bench/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace bench {

namespace {

std::string name_of(Check check)
{
    return check == Check::exact ? "exact" : "bounded";
}

std::string occasion(Check check, std::string const& when)
{
    return fmt::format("{} check, {}", name_of(check), when);
}

/// The marked source text that a variant names; throws if there is none.
Excerpt const& marked_text(std::string const& variant, std::string const& name)
{
    auto const& texts = provenance().excerpts;
    auto const found = std::ranges::find(texts, name, &Excerpt::name);
    if (found == texts.end()) {
        throw std::logic_error{fmt::format("variant '{}' has no marked source text: put it between "
                                           "two lines //! [{}]",
                                           variant, name)};
    }
    return *found;
}

} // namespace

Trial::Trial(Run& run, Check check)
    : run_{run}, check_{check}, random_{Random{run.settings.seed + 0x1000 * run.point.index}.next()}
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

Variant& Trial::declare(std::string name, std::function<Variant::Call(Variant&)> setup,
                        std::string missing)
{
    if (!names_.insert(name).second) {
        throw std::logic_error{fmt::format("two variants are called '{}'", name)};
    }
    auto& takers = std::regex_search(name, run_.filter) ? variants_ : left_out_;
    auto& variant = takers.emplace_back(std::move(name), usual());
    variant.setup_ = std::move(setup);
    variant.missing_ = std::move(missing);
    return variant;
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

void Trial::require_complete() const
{
    if (!std::ranges::all_of(outputs_,
                             [](auto const& output) { return bool{output.expectation}; })) {
        throw std::logic_error{"an output has no expected result"};
    }
    for (auto const& variant : variants_) {
        if (variant.setup_) {
            marked_text(variant.name_, variant.excerpt_);
        }
    }
}

void Trial::list() const
{
    for (auto const& variant : variants_) {
        auto const reason = why_not(variant);
        base::print(fmt::format("  {} ({}){}{}\n", variant.name_, variant.group_,
                                reason.empty() ? "" : ": ", reason));
    }
}

/// Why a variant does not take part; empty if it does.
std::string Trial::why_not(Variant const& variant) const
{
    auto const unsuited = run_.point.unsuited.find(variant.name_);
    if (!variant.setup_ || unsuited != run_.point.unsuited.end()) {
        return variant.setup_ ? unsuited->second : variant.missing_;
    }
    auto const missing = variant.runs_->missing();
    return missing.empty() ? variant.results_->missing() : missing;
}

void Trial::record_skipped()
{
    for (auto const& variant : variants_) {
        if (auto const reason = why_not(variant); !reason.empty()) {
            run_.point.measured["skipped"].push_back(
                {{"variant", variant.name_},
                 {"group", variant.group_},
                 {"launch", 0},
                 {"study", run_.point.selection->study->name()},
                 {"parameters", run_.point.parameters()},
                 {"reason", reason}});
        }
    }
}

Clock& Trial::clock_of(Entry const& entry)
{
    auto const& variant = *entry.variant;
    return variant.clock_ != nullptr
               ? *variant.clock_
               : variant.runs_->clock(entry.is_cold ? Cache::cold : Cache::warm);
}

Trial::Entry Trial::prepare(Variant& variant)
{
    auto& point = run_.point;
    Entry entry{.variant = &variant};
    entry.is_cold = is_cold(*variant.runs_);
    entry.verdict = point.exact[variant.name_];
    if (entry.verdict.passed) {
        guarded(entry, "setup", [&] {
            entry.setup_seconds = clock_of(entry).setup_seconds([&] {
                try {
                    entry.call = variant.setup_(variant);
                } catch (NotApplicable const& reason) {
                    point.unsuited[variant.name_] = reason.what();
                }
            });
        });
    }
    if (!run_.team.all(!point.unsuited.contains(variant.name_))) {
        point.unsuited.try_emplace(variant.name_, "not applicable on another rank");
    }
    if (!entry.call || point.unsuited.contains(variant.name_)) {
        variant.outputs_.clear(); // what the setup made or asked to be called may be gone
        variant.on_refill_ = nullptr;
        variant.on_reset_ = nullptr;
    }
    return entry;
}

std::vector<Trial::Entry> Trial::prepare_all()
{
    std::vector<Entry> entries;
    for (auto& variant : variants_) {
        if (why_not(variant).empty()) {
            auto entry = prepare(variant);
            if (why_not(variant).empty()) {
                entries.push_back(std::move(entry));
                targets_.insert({variant.runs_, variant.results_});
            }
        }
    }
    return entries;
}

/// A variant that throws has failed; the trial goes on, but not in a team, where others may wait
/// for what it would have sent.
void Trial::guarded(Entry& entry, std::string const& when, std::function<void()> const& action)
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
    auto const what = fmt::format("{} threw: {}", occasion(check_, when), thrown);
    if (run_.team.size() > 1) {
        throw std::runtime_error{fmt::format("{}: {}", entry.variant->name_, what)};
    }
    entry.verdict.fail(what);
}

void Trial::refill()
{
    for (auto& input : inputs_) {
        input.refill(fill());
    }
    if (on_refill_) {
        on_refill_();
    }
    for (auto const& variant : variants_) {
        if (variant.on_refill_ && why_not(variant).empty()) {
            variant.on_refill_();
        }
    }
    for (auto& output : outputs_) {
        output.wanted.reset();
        if (output.expectation.whole) {
            output.wanted = output.expectation.whole();
        }
    }
}

void Trial::reset(Entry const& entry) const
{
    if (on_reset_) {
        on_reset_();
    }
    if (entry.variant->on_reset_) {
        entry.variant->on_reset_();
    }
}

void Trial::finish_all() const
{
    for (auto* const target : targets_) {
        target->finish();
    }
}

/// Every copy of every output on every target, also those of other variants: else one could pass by
/// fetching its neighbour's result. What was queued may still write a copy in other memory than its
/// target's own, so that it is waited for; where there is none, the poison is queued behind it.
void Trial::poison()
{
    auto const each = [this](auto action) {
        std::ranges::for_each(outputs_, action);
        for (auto& variant : variants_) {
            std::ranges::for_each(variant.outputs_, action);
        }
    };
    bool is_elsewhere = false;
    each([&](Operand& output) {
        for (auto* const target : targets_) {
            is_elsewhere = is_elsewhere || output.is_beyond(*target);
        }
    });
    if (is_elsewhere) {
        finish_all();
    }
    each([](Operand& output) { output.poison(); });
}

void Trial::check_results(Entry& entry, std::string const& when)
{
    auto& variant = *entry.variant;
    auto& verdict = entry.verdict;
    auto const text = occasion(check_, when);
    if (variant.outputs_.empty() && outputs_.empty()) {
        throw std::logic_error{fmt::format("variant '{}' has no output", variant.name_)};
    }
    finish_all();
    for (auto& output : variant.outputs_.empty() ? outputs_ : variant.outputs_) {
        if (!output.expectation) {
            throw std::logic_error{
                fmt::format("an output of variant '{}' has no expected result", variant.name_)};
        }
        compare(check_, output, output.checked_at(*variant.results_), text, verdict);
    }
    if (!run_.team.all(verdict.passed) && verdict.passed) {
        verdict.fail(text + ": wrong on another rank");
    }
}

/// Two calls with different inputs_, each with poisoned outputs_.
void Trial::verify(std::vector<Entry>& entries)
{
    for (int call = 1; call <= 2; ++call) {
        refill();
        auto const when = fmt::format("call {}", call);
        for (auto& entry : entries) {
            if (entry.verdict.passed) {
                reset(entry);
                poison();
                guarded(entry, when, entry.call);
            }
            if (entry.verdict.passed) {
                check_results(entry, when);
            }
        }
    }
    for (auto& entry : entries) {
        entry.verdict.checks.push_back(name_of(check_));
    }
}

void Trial::check_exactly()
{
    auto entries = prepare_all();
    if (inexact_.empty()) {
        verify(entries);
    }
    for (auto const& entry : entries) {
        auto verdict = entry.verdict;
        verdict.reason = verdict.passed ? inexact_ : verdict.reason;
        run_.point.exact[entry.variant->name_] = verdict;
    }
}

void Trial::check_within_bounds_and_time()
{
    auto entries = prepare_all();
    record_skipped();
    verify(entries);
    auto const failed = std::stable_partition(
        entries.begin(), entries.end(), [](Entry const& entry) { return entry.verdict.passed; });
    std::for_each(failed, entries.end(), [this](Entry const& entry) { record_case(entry); });
    entries.erase(failed, entries.end());
    if (!entries.empty()) {
        if (!is_profiled()) { // nobody asks what a twin counts
            add_twins(entries);
        }
        time_rounds(entries);
    }
    std::ranges::for_each(entries, [this](Entry const& entry) { record_case(entry); });
}

void Trial::record_case(Entry const& entry)
{
    auto const& variant = *entry.variant;
    auto const& verdict = entry.verdict;
    if (!verdict.passed && run_.team.rank() == 0) {
        auto const line = fmt::format("{}: {} failed at {}: {}\n", run_.name, variant.name_,
                                      run_.point.label(), verdict.reason);
        std::fputs(line.c_str(), stderr);
    }
    Json setup{{"seconds", rounded(std::max(entry.setup_seconds, 0.0))},
               {"stored_bytes", variant.stored_bytes_}};
    if (variant.operand_bytes_ > 0) {
        setup["operand_bytes"] = variant.operand_bytes_;
    }
    for (auto const& [name, value] : variant.counts_) {
        if (std::isfinite(value)) {
            setup["counts"][name] = value;
        }
    }
    if (!variant.notes_.empty()) {
        setup["notes"] = variant.notes_;
    }
    Json one{{"variant", variant.name_},
             {"group", variant.group_},
             {"excerpt", variant.excerpt_},
             {"twin", entry.is_twin},
             {"launch", 0},
             {"study", run_.point.selection->study->name()},
             {"target", variant.runs_->name()},
             {"parameters", run_.point.parameters()}};
    if (variant.results_ != variant.runs_) {
        one["results"] = variant.results_->name();
    }
    one["work"] = {{"flops", work_.flops}, {"bytes", work_.bytes}};
    if (work_.operations > 0) {
        one["work"]["operations"] = work_.operations;
    }
    one["verdict"] = verdict;
    one["clock"] = clock_of(entry).name();
    one["cache"] = entry.is_cold ? "cold" : "warm";
    one["setup"] = std::move(setup);
    one["iterations"] = verdict.passed ? entry.iterations : 0;
    one["samples_s"] = verdict.passed ? entry.samples : std::vector<double>{};
    for (auto const& [name, values] : entry.rounds) {
        one["rounds"][name] = verdict.passed ? values : std::vector<double>{};
    }
    if (verdict.passed && !entry.timelines.empty()) {
        auto const from_median = [middle = median(entry.samples)](double sample) {
            return std::abs(sample - middle);
        };
        auto const nearest = std::ranges::min_element(entry.samples, {}, from_median);
        auto const& spans =
            entry.timelines[static_cast<std::size_t>(nearest - entry.samples.begin())];
        one["timeline"] = Json::array();
        for (auto const& span : spans) {
            one["timeline"].push_back({{"lane", span.lane},
                                       {"name", span.name},
                                       {"begin_s", rounded(span.begin_s)},
                                       {"end_s", rounded(span.end_s)}});
        }
    }
    run_.point.measured["cases"].push_back(std::move(one));
    auto const& text = marked_text(variant.name_, variant.excerpt_);
    run_.point.measured["excerpts"][variant.excerpt_] = {{"file", text.file}, {"text", text.text}};
}

} // namespace bench
