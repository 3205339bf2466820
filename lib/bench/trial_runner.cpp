#include "bench/trial_runner.hpp"

#include "bench/provenance.hpp"
#include "bench/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::size_t least_pairs = 20; ///< A/A pairs of an experiment
constexpr double most_calls = 1e6;

/// Calls before a warm sample. A shared cache that held something else keeps part of that for a few
/// calls: matrices of a quarter of it took up to 1.7 times as long in the second call as in the
/// fifth.
constexpr int settling_calls = 4;

std::string name_of(Check check)
{
    return check == Check::exact ? "exact" : "bounded";
}

std::string occasion(Check check, std::string const& when)
{
    return fmt::format("{} check, {}", name_of(check), when);
}

/// The sample whose time is nearest to the median.
std::size_t median_sample(std::vector<double> const& samples)
{
    auto const distance = [middle = median(samples)](double sample) {
        return std::abs(sample - middle);
    };
    return static_cast<std::size_t>(std::ranges::min_element(samples, {}, distance) -
                                    samples.begin());
}

Json timeline_record(std::vector<Span> const& spans)
{
    Json list = Json::array();
    for (auto const& span : spans) {
        list.push_back({{"lane", span.lane},
                        {"name", span.name},
                        {"begin_s", rounded(span.begin_s)},
                        {"end_s", rounded(span.end_s)}});
    }
    return list;
}

} // namespace

TrialRunner::TrialRunner(Run& of, Check kind)
    : run_of{of}, check{kind}, random_{Random{of.settings.seed + 0x1000 * of.point.index}.next()}
{
}

Variant& TrialRunner::declare(std::string name, std::function<Variant::Call(Variant&)> setup,
                              std::string missing)
{
    for (auto const* known : {&variants_, &left_out_}) {
        if (std::ranges::find(*known, name, &Variant::name_) != known->end()) {
            throw std::logic_error{fmt::format("two variants are called '{}'", name)};
        }
    }
    auto& list = std::regex_search(name, run_of.filter) ? variants_ : left_out_;
    auto& variant = list.emplace_back(std::move(name), usual());
    variant.setup_ = std::move(setup);
    variant.missing_ = std::move(missing);
    return variant;
}

bool TrialRunner::is_cold(Target& where) const
{
    auto const own = cache_there.find(&where);
    auto const chosen = own == cache_there.end() ? cache : own->second;
    return chosen == Cache::cold ||
           (chosen == Cache::automatic && work.bytes > static_cast<double>(where.cache_bytes()));
}

void TrialRunner::run()
{
    require_complete();
    if (run_of.settings.list) {
        list();
        return;
    }
    run_of.pacer.turn("prepare");
    if (check == Check::exact) {
        check_exactly();
    } else {
        check_within_bounds_and_time();
    }
}

void TrialRunner::require_complete() const
{
    if (!std::ranges::all_of(outputs,
                             [](auto const& output) { return bool{output.expectation}; })) {
        throw std::logic_error{"an output has no expected result"};
    }
    for (auto const& variant : variants_) {
        auto const& texts = provenance().excerpts;
        auto const is_marked =
            std::ranges::find(texts, variant.excerpt_, &Excerpt::name) != texts.end();
        if (variant.setup_ && !is_marked) {
            throw std::logic_error{
                fmt::format("variant '{}' has no marked source text: put it between two lines "
                            "//! [{}]",
                            variant.name_, variant.excerpt_)};
        }
    }
}

void TrialRunner::list() const
{
    for (auto const& variant : variants_) {
        auto const reason = why_not(variant);
        fmt::print("  {} ({}){}{}\n", variant.name_, variant.group_, reason.empty() ? "" : ": ",
                   reason);
    }
}

/// Why a variant does not take part; empty if it does.
std::string TrialRunner::why_not(Variant const& variant) const
{
    auto const unsuited = run_of.point.unsuited.find(variant.name_);
    if (!variant.setup_ || unsuited != run_of.point.unsuited.end()) {
        return variant.setup_ ? unsuited->second : variant.missing_;
    }
    auto const missing = variant.runs_->missing();
    return missing.empty() ? variant.results_->missing() : missing;
}

void TrialRunner::record_skipped()
{
    for (auto const& variant : variants_) {
        if (auto const reason = why_not(variant); !reason.empty()) {
            run_of.point.measured.skipped.push_back({{"variant", variant.name_},
                                                     {"group", variant.group_},
                                                     {"launch", 0},
                                                     {"study", run_of.point.plan->study->name()},
                                                     {"parameters", run_of.point.parameters()},
                                                     {"reason", reason}});
        }
    }
}

Clock& TrialRunner::clock_of(Contender const& contender)
{
    auto const& variant = *contender.variant;
    return variant.clock_ != nullptr
               ? *variant.clock_
               : variant.runs_->clock(contender.is_cold ? Cache::cold : Cache::warm);
}

Contender TrialRunner::prepare(Variant& variant)
{
    auto& point = run_of.point;
    Contender contender{.variant = &variant};
    contender.is_cold = is_cold(*variant.runs_);
    contender.verdict = point.exact[variant.name_];
    if (contender.verdict.passed) {
        guarded(contender, "setup", [&] {
            contender.setup_seconds = clock_of(contender).setup_seconds([&] {
                try {
                    contender.call = variant.setup_(variant);
                } catch (NotApplicable const& reason) {
                    point.unsuited[variant.name_] = reason.what();
                }
            });
        });
    }
    if (!run_of.team.all(!point.unsuited.contains(variant.name_))) {
        point.unsuited.try_emplace(variant.name_, "not applicable on another rank");
    }
    if (!contender.call || point.unsuited.contains(variant.name_)) {
        variant.forget_setup();
    }
    return contender;
}

std::vector<Contender> TrialRunner::prepare_all()
{
    std::vector<Contender> contenders;
    for (auto& variant : variants_) {
        if (why_not(variant).empty()) {
            auto contender = prepare(variant);
            if (why_not(variant).empty()) {
                contenders.push_back(std::move(contender));
                for (auto* const target : {variant.runs_, variant.results_}) {
                    if (std::ranges::find(targets_, target) == targets_.end()) {
                        targets_.push_back(target);
                    }
                }
            }
        }
    }
    return contenders;
}

/// A variant that throws has failed; the trial goes on, but not in a team, where others may wait
/// for what it would have sent.
void TrialRunner::guarded(Contender& contender, std::string const& when,
                          std::function<void()> const& action)
{
    try {
        action();
    } catch (std::exception const& error) {
        auto const what = fmt::format("{} threw: {}", occasion(check, when), error.what());
        if (run_of.team.size() > 1) {
            throw std::runtime_error{fmt::format("{}: {}", contender.variant->name_, what)};
        }
        contender.verdict.fail(what);
    }
}

void TrialRunner::refill()
{
    for (auto& input : inputs) {
        input.refill(next_fill());
    }
    if (on_refill) {
        on_refill();
    }
    for (auto const& variant : variants_) {
        if (variant.on_refill_ && why_not(variant).empty()) {
            variant.on_refill_();
        }
    }
    wanted_.clear();
    for (auto const& output : outputs) {
        auto const& whole = output.expectation.whole;
        wanted_.push_back(whole ? whole() : Expected{});
    }
}

void TrialRunner::reset(Contender const& contender) const
{
    if (on_reset) {
        on_reset();
    }
    if (contender.variant->on_reset_) {
        contender.variant->on_reset_();
    }
}

void TrialRunner::finish_all() const
{
    for (auto* const target : targets_) {
        target->finish();
    }
}

/// Every copy of every output on every target, also those of other variants: else one could pass by
/// fetching its neighbour's result. What was queued may still write a copy in other memory than its
/// target's own, so that it is waited for; where there is none, the poison is queued behind it.
void TrialRunner::poison()
{
    auto const each = [this](auto action) {
        std::ranges::for_each(outputs, action);
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

void TrialRunner::check_results(Contender& contender, std::string const& when)
{
    auto& variant = *contender.variant;
    auto& verdict = contender.verdict;
    auto const text = occasion(check, when);
    if (variant.outputs_.empty() && outputs.empty()) {
        throw std::logic_error{fmt::format("variant '{}' has no output", variant.name_)};
    }
    finish_all();
    for (auto& output : variant.outputs_) {
        if (!output.expectation) {
            throw std::logic_error{
                fmt::format("an output of variant '{}' has no expected result", variant.name_)};
        }
        compare(check, output, output.checked_at(*variant.results_), nullptr, text, verdict);
    }
    for (std::size_t i = 0; i < outputs.size() && variant.outputs_.empty(); ++i) {
        auto const* const whole = outputs[i].expectation.whole ? &wanted_[i] : nullptr;
        auto& where = outputs[i].checked_at(*variant.results_);
        compare(check, outputs[i], where, whole, text, verdict);
    }
    if (!run_of.team.all(verdict.passed) && verdict.passed) {
        verdict.fail(text + ": wrong on another rank");
    }
}

/// Two calls with different inputs, each with poisoned outputs.
void TrialRunner::verify(std::vector<Contender>& contenders)
{
    for (int call = 1; call <= 2; ++call) {
        refill();
        auto const when = fmt::format("call {}", call);
        for (auto& contender : contenders) {
            if (contender.verdict.passed) {
                reset(contender);
                poison();
                guarded(contender, when, contender.call);
            }
            if (contender.verdict.passed) {
                check_results(contender, when);
            }
        }
    }
    for (auto& contender : contenders) {
        contender.verdict.checks.push_back(name_of(check));
    }
}

void TrialRunner::check_exactly()
{
    auto contenders = prepare_all();
    if (inexact.empty()) {
        verify(contenders);
    }
    for (auto const& contender : contenders) {
        auto verdict = contender.verdict;
        verdict.reason = verdict.passed ? inexact : verdict.reason;
        run_of.point.exact[contender.variant->name_] = verdict;
    }
}

void TrialRunner::check_within_bounds_and_time()
{
    auto contenders = prepare_all();
    record_skipped();
    verify(contenders);
    std::vector<Contender> sound;
    for (auto& contender : contenders) {
        if (contender.verdict.passed) {
            sound.push_back(std::move(contender));
        } else {
            record_case(contender);
        }
    }
    if (!sound.empty()) {
        add_twins(sound);
        time_rounds(sound);
    }
    for (auto const& contender : sound) {
        record_case(contender);
    }
}

/// Adds second runs of some variants, so that the experiment has enough A/A pairs.
void TrialRunner::add_twins(std::vector<Contender>& contenders)
{
    auto const points = run_of.points();
    auto const originals = contenders.size();
    auto const twins = (least_pairs + points - 1) / points;
    for (std::size_t i = 0; i < twins; ++i) {
        auto twin = contenders[(run_of.point.index + i) % originals];
        twin.is_twin = true;
        contenders.push_back(std::move(twin));
    }
}

/// How many calls fill the least time of a sample, at the pace of `tried` of them in a row.
std::uint64_t TrialRunner::calls_for_a_sample(Contender& contender, std::uint64_t tried)
{
    restore_caches(contender);
    auto const seconds = clock_of(contender).seconds([&] {
        for (std::uint64_t call = 0; call < tried; ++call) {
            contender.call();
        }
    });
    auto const pace = std::max(seconds / static_cast<double>(tried), 1e-9);
    auto const calls = std::clamp(std::ceil(run_of.settings.min_time_s / pace), 1.0, most_calls);
    return run_of.team.from_root(static_cast<std::uint64_t>(calls));
}

/// Calls per sample: enough to fill its least time. One call by itself is slower than many in a
/// row, so its pace says how many to try.
void TrialRunner::choose_iterations(Contender& contender)
{
    if (!contender.is_cold && !on_reset && !contender.variant->on_reset_) {
        auto const some = std::max<std::uint64_t>(1, calls_for_a_sample(contender, 1) / 4);
        contender.iterations = calls_for_a_sample(contender, some);
    }
}

void TrialRunner::time_rounds(std::vector<Contender>& contenders)
{
    std::vector<Contender*> order;
    for (auto& contender : contenders) {
        choose_iterations(contender);
        order.push_back(&contender);
    }
    auto const rounds = run_of.settings.rounds;
    auto const audit = random_.below(rounds);
    for (std::size_t round = 0; round < rounds; ++round) {
        run_of.pacer.turn("round");
        if (round == audit) {
            refill();
        }
        run_of.meter.start();
        random_.shuffle(order);
        for (auto* contender : order) {
            take_sample(*contender);
            if (round == audit && contender->verdict.passed) {
                check_results(*contender, "a timed call");
            }
        }
        run_of.meter.stop();
    }
}

/// Resets and poisons. Warm: some calls before, so that what fits is in the caches. Cold: evicts
/// everything, also where results go: a device writes into memory of the host at half its speed
/// while the host's caches still hold the poison. The poison stays until the timed call overwrites
/// it. What other targets were told to do is done before; what this one was told may be queued, so
/// that the call begins without a gap.
void TrialRunner::restore_caches(Contender& contender)
{
    auto& runs = *contender.variant->runs_;
    auto& results = *contender.variant->results_;
    reset(contender);
    int const calls = contender.is_cold ? 0 : settling_calls;
    for (int call = 0; call < calls; ++call) {
        contender.call();
        reset(contender);
    }
    poison();
    for (auto* const target : targets_) {
        if (target != &runs) {
            target->finish();
        }
    }
    if (contender.is_cold && &results != &runs) {
        results.flush();
    }
    if (contender.is_cold) {
        runs.flush();
    }
}

void TrialRunner::take_sample(Contender& contender)
{
    restore_caches(contender);
    auto& clock = clock_of(contender);
    clock.wake();
    auto const calls = contender.iterations;
    auto const seconds = clock.seconds([&] {
        for (std::size_t i = 0; i < calls; ++i) {
            contender.call();
        }
    });
    contender.samples.push_back(rounded(seconds / static_cast<double>(calls)));
    for (auto const& [name, read] : contender.variant->counters_) {
        contender.rounds[name].push_back(rounded(read()));
    }
    if (contender.variant->timeline_) {
        contender.timelines.push_back(contender.variant->timeline_());
    }
}

void TrialRunner::record_case(Contender const& contender)
{
    auto const& variant = *contender.variant;
    auto const& verdict = contender.verdict;
    Json outcome{{"status", verdict.passed ? "passed" : "failed"},
                 {"checks", verdict.checks},
                 {"error", rounded(verdict.error)}};
    if (!verdict.reason.empty()) {
        outcome["reason"] = verdict.reason;
    }
    Json setup{{"seconds", rounded(contender.setup_seconds)},
               {"stored_bytes", variant.stored_bytes_}};
    if (variant.operand_bytes_ > 0) {
        setup["operand_bytes"] = variant.operand_bytes_;
    }
    for (auto const& [name, value] : variant.counts_) {
        setup["counts"][name] = value;
    }
    if (!variant.notes_.empty()) {
        setup["notes"] = variant.notes_;
    }
    Json one{{"variant", variant.name_},
             {"group", variant.group_},
             {"excerpt", variant.excerpt_},
             {"twin", contender.is_twin},
             {"launch", 0},
             {"study", run_of.point.plan->study->name()},
             {"target", variant.runs_->name()},
             {"parameters", run_of.point.parameters()}};
    if (variant.results_ != variant.runs_) {
        one["results"] = variant.results_->name();
    }
    one["work"] = {{"flops", work.flops}, {"bytes", work.bytes}, {"operations", work.operations}};
    one["verdict"] = std::move(outcome);
    one["clock"] = clock_of(contender).name();
    one["cache"] = contender.is_cold ? "cold" : "warm";
    one["setup"] = std::move(setup);
    one["iterations"] = verdict.passed ? contender.iterations : 0;
    one["samples_s"] = verdict.passed ? contender.samples : std::vector<double>{};
    for (auto const& [name, values] : contender.rounds) {
        one["rounds"][name] = verdict.passed ? values : std::vector<double>{};
    }
    if (verdict.passed && !contender.timelines.empty()) {
        one["timeline"] = timeline_record(contender.timelines[median_sample(contender.samples)]);
    }
    run_of.point.measured.cases.push_back(std::move(one));
    run_of.point.measured.excerpts.push_back(variant.excerpt_);
}

} // namespace bench
