#include "bench/contest.hpp"

#include "bench/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::size_t least_pairs = 20; ///< A/A pairs of an experiment
constexpr double most_trips = 1e6;

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

} // namespace

Contest::Contest(Session& owner, Check kind)
    : session{owner}, check{kind}, random_{
                                       Random{owner.settings.seed + 0x1000 * owner.index}.next()}
{
}

Variant& Contest::declare(Declared declared)
{
    for (auto const* known : {&variants_, &left_out_}) {
        if (std::ranges::find(*known, declared.name, &Declared::name) != known->end()) {
            throw std::logic_error{fmt::format("two variants are called '{}'", declared.name)};
        }
    }
    auto& list = session.filter.found_in(declared.name) ? variants_ : left_out_;
    list.push_back(std::move(declared));
    return list.back().variant;
}

void Contest::run()
{
    require_complete();
    if (session.settings.list) {
        list();
        return;
    }
    session.pacer.turn("prepare");
    if (check == Check::exact) {
        check_exactly();
    } else {
        check_within_bounds_and_time();
    }
}

void Contest::require_complete() const
{
    if (!expected || outputs.empty()) {
        throw std::logic_error{"a trial needs outputs and their expected result"};
    }
    for (auto const& declared : variants_) {
        auto const& name = declared.variant.excerpt();
        auto const& texts = provenance().excerpts;
        if (declared.prepare && std::ranges::find(texts, name, &Excerpt::name) == texts.end()) {
            throw std::logic_error{
                fmt::format("variant '{}' has no marked source text: put it between two lines "
                            "//! [{}]",
                            declared.name, name)};
        }
    }
}

void Contest::list() const
{
    for (auto const& declared : variants_) {
        fmt::print("  {} ({}){}{}\n", declared.name, declared.variant.group(),
                   declared.missing.empty() ? "" : ": ", declared.missing);
    }
}

/// It can run here, and no setup said that it is not made for these inputs.
bool Contest::takes_part(Declared const& declared) const
{
    return declared.prepare && !session.unsuited.contains(declared.name);
}

void Contest::record_skipped()
{
    for (auto const& declared : variants_) {
        if (!takes_part(declared)) {
            auto const& reason =
                declared.prepare ? session.unsuited.at(declared.name) : declared.missing;
            session.measured.skipped.push_back({{"variant", declared.name},
                                                {"group", declared.variant.group()},
                                                {"launch", 0},
                                                {"parameters", Session::parameters(session.at)},
                                                {"reason", reason}});
        }
    }
}

bool Contest::is_cold() const
{
    auto const touched = work.bytes * static_cast<double>(sets);
    return cache == Cache::cold ||
           (cache == Cache::automatic && touched > static_cast<double>(session.cache_bytes));
}

Contender Contest::prepare(Declared const& declared)
{
    Contender contender;
    contender.name = declared.name;
    contender.group = declared.variant.group();
    contender.excerpt = declared.variant.excerpt();
    contender.verdict = session.exact[declared.name];
    if (contender.verdict.passed) {
        guarded(contender, "setup", [&] {
            contender.setup_seconds = timer().setup_seconds([&] {
                try {
                    contender.call = declared.prepare(contender.setup);
                } catch (NotApplicable const& reason) {
                    session.unsuited[declared.name] = reason.what();
                }
            });
        });
    }
    if (!session.team->all(!session.unsuited.contains(declared.name))) {
        session.unsuited.try_emplace(declared.name, "not applicable on another rank");
    }
    return contender;
}

std::vector<Contender> Contest::prepare_all()
{
    std::vector<Contender> contenders;
    for (auto const& declared : variants_) {
        if (takes_part(declared)) {
            auto contender = prepare(declared);
            if (takes_part(declared)) {
                contenders.push_back(std::move(contender));
            }
        }
    }
    return contenders;
}

/// A variant that throws has failed; the trial goes on, but not in a team, where others may wait
/// for what it would have sent.
void Contest::guarded(Contender& contender, std::string const& when,
                      std::function<void()> const& action)
{
    try {
        action();
    } catch (std::exception const& error) {
        auto const what = fmt::format("{} threw: {}", occasion(check, when), error.what());
        if (session.team->size() > 1) {
            throw std::runtime_error{fmt::format("{}: {}", contender.name, what)};
        }
        contender.verdict.fail(what);
    }
}

void Contest::refill()
{
    for (auto const& input : inputs) {
        input(next_fill());
    }
    if (on_refill) {
        on_refill();
    }
    wanted_ = expected();
    for (auto const& declared : variants_) {
        if (declared.variant.expected() && takes_part(declared)) {
            own_wanted_[declared.name] = declared.variant.expected()();
        }
    }
}

void Contest::reset()
{
    if (on_reset) {
        on_reset();
    }
}

void Contest::poison()
{
    for (auto const& output : outputs) {
        output->poison();
    }
}

void Contest::call_every_set(Contender& contender)
{
    for (std::size_t set = 0; set < sets; ++set) {
        contender.call(set);
    }
}

void Contest::check_results(Contender& contender, std::string const& when)
{
    outputs.front()->fetch(actual_);
    for (auto output = outputs.begin() + 1; output != outputs.end(); ++output) {
        (*output)->fetch(part_);
        actual_.insert(actual_.end(), part_.begin(), part_.end());
    }
    auto& verdict = contender.verdict;
    auto const own = own_wanted_.find(contender.name);
    auto const& wanted = own == own_wanted_.end() ? wanted_ : own->second;
    compare(check, wanted, actual_, occasion(check, when), verdict);
    if (!session.team->all(verdict.passed) && verdict.passed) {
        verdict.fail(occasion(check, when) + ": wrong on another rank");
    }
}

/// Two calls with different inputs, each with poisoned outputs.
void Contest::verify(std::vector<Contender>& contenders)
{
    for (int call = 1; call <= 2; ++call) {
        refill();
        auto const when = fmt::format("call {}", call);
        for (auto& contender : contenders) {
            if (contender.verdict.passed) {
                reset();
                poison();
                guarded(contender, when, [&] { call_every_set(contender); });
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

void Contest::check_exactly()
{
    auto contenders = prepare_all();
    if (inexact.empty()) {
        verify(contenders);
    }
    for (auto const& contender : contenders) {
        auto verdict = contender.verdict;
        verdict.reason = verdict.passed ? inexact : verdict.reason;
        session.exact[contender.name] = verdict;
    }
}

void Contest::check_within_bounds_and_time()
{
    cold_ = is_cold();
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
void Contest::add_twins(std::vector<Contender>& contenders)
{
    auto const points = session.points();
    auto const originals = contenders.size();
    auto const twins = (least_pairs + points - 1) / points;
    for (std::size_t i = 0; i < twins; ++i) {
        auto twin = contenders[(session.index + i) % originals];
        twin.twin = true;
        contenders.push_back(std::move(twin));
    }
}

/// How many round trips over all sets fill the least time of a sample, at the pace of `tried` of
/// them in a row.
std::uint64_t Contest::round_trips(Contender& contender, std::uint64_t tried)
{
    restore_caches(contender);
    auto const seconds = timer().seconds([&] {
        for (std::uint64_t trip = 0; trip < tried; ++trip) {
            call_every_set(contender);
        }
    });
    auto const pace = std::max(seconds / static_cast<double>(tried), 1e-9);
    auto const trips = std::clamp(std::ceil(session.settings.min_time_s / pace), 1.0, most_trips);
    return session.team->from_root(static_cast<std::uint64_t>(trips));
}

/// Calls per sample: enough to fill its least time. One call by itself is slower than many in a
/// row, so its pace says how many to try.
void Contest::choose_iterations(Contender& contender)
{
    bool const repeats = sets > 1 || (!cold_ && !on_reset);
    if (repeats) {
        auto const some = std::max<std::uint64_t>(1, round_trips(contender, 1) / 4);
        contender.iterations = round_trips(contender, some) * sets;
    }
}

void Contest::time_rounds(std::vector<Contender>& contenders)
{
    std::vector<Contender*> order;
    for (auto& contender : contenders) {
        choose_iterations(contender);
        order.push_back(&contender);
    }
    auto const rounds = session.settings.rounds;
    auto const audit = random_.below(rounds);
    for (std::size_t round = 0; round < rounds; ++round) {
        session.pacer.turn("round");
        if (round == audit) {
            refill();
        }
        session.meter.start();
        random_.shuffle(order);
        for (auto* contender : order) {
            contender->samples.push_back(rounded(sample(*contender)));
            if (round == audit && contender->verdict.passed) {
                check_results(*contender, "a timed call");
            }
        }
        session.meter.stop();
    }
}

/// Resets and poisons. Warm: some calls before, so that what fits is in the caches. Cold: evicts
/// everything, unless the rotation over operand sets does. The poison stays until the timed call
/// overwrites it.
void Contest::restore_caches(Contender& contender)
{
    reset();
    int const calls = cold_ ? 0 : settling_calls;
    for (int call = 0; call < calls; ++call) {
        call_every_set(contender);
        reset();
    }
    poison();
    if (cold_ && sets == 1) {
        flush ? flush() : session.flush_caches();
    }
}

double Contest::sample(Contender& contender)
{
    restore_caches(contender);
    timer().wake();
    auto const calls = contender.iterations;
    auto const seconds = timer().seconds([&] {
        for (std::size_t i = 0, set = 0; i < calls; ++i) {
            contender.call(set);
            set = set + 1 == sets ? 0 : set + 1; // a division would show in short calls
        }
    });
    return seconds / static_cast<double>(calls);
}

void Contest::record_case(Contender const& contender)
{
    auto const& verdict = contender.verdict;
    Json outcome{{"status", verdict.passed ? "passed" : "failed"},
                 {"checks", verdict.checks},
                 {"error", rounded(verdict.error)}};
    if (!verdict.reason.empty()) {
        outcome["reason"] = verdict.reason;
    }
    Json setup{{"seconds", rounded(contender.setup_seconds)},
               {"stored_bytes", contender.setup.stored_bytes()}};
    if (contender.setup.operand_bytes() > 0) {
        setup["operand_bytes"] = contender.setup.operand_bytes();
    }
    for (auto const& [name, value] : contender.setup.counts()) {
        setup["counts"][name] = value;
    }
    if (!contender.setup.notes().empty()) {
        setup["notes"] = contender.setup.notes();
    }
    Json one{{"variant", contender.name},
             {"group", contender.group},
             {"excerpt", contender.excerpt},
             {"twin", contender.twin},
             {"launch", 0},
             {"parameters", Session::parameters(session.at)}};
    one["work"] = {{"flops", work.flops}, {"bytes", work.bytes}, {"operations", work.operations}};
    one["verdict"] = std::move(outcome);
    one["clock"] = timer().name();
    one["cache"] = cold_ ? "cold" : "warm";
    one["setup"] = std::move(setup);
    one["iterations"] = verdict.passed ? contender.iterations : 0;
    one["samples_s"] = verdict.passed ? contender.samples : std::vector<double>{};
    session.measured.cases.push_back(std::move(one));
    session.measured.excerpts.push_back(contender.excerpt);
}

} // namespace bench
