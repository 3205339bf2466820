#include "bench/entry.hpp"
#include "bench/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// \file
/// How a trial is timed: calls of a sample, and rounds in which all variants take turns.

namespace bench {

namespace {

constexpr std::size_t least_pairs = 20; ///< A/A pairs of an experiment
constexpr double most_calls = 1e6;

/// Of a clock that is coarser than a call: where it shows nothing of so many in a row, it stands
/// still; where it does, a sample takes so many times as long.
constexpr std::uint64_t most_calls_unseen = 1 << 14;
constexpr std::uint64_t ticks_of_a_sample = 8;

/// Calls before a warm sample. A shared cache that held something else keeps part of that for a few
/// calls: matrices of a quarter of it took up to 1.7 times as long in the second call as in the
/// fifth. Of calls that take long, fewer will do: as many as fill this time, but at least one.
constexpr std::uint64_t settling_calls = 4;
constexpr double settling_s = 0.1;

} // namespace

/// Adds second runs of some variants, so that the experiment has enough A/A pairs.
void Trial::add_twins(std::vector<Entry>& entries)
{
    auto const points = run_.points;
    auto const originals = entries.size();
    auto const twins = (least_pairs + points - 1) / points;
    for (std::size_t i = 0; i < twins; ++i) {
        auto twin = entries[(run_.point.index + i) % originals];
        twin.is_twin = true;
        entries.push_back(std::move(twin));
    }
}

/// Seconds of a call, among so many in a row.
double Trial::seconds_of(Entry& entry, std::uint64_t calls)
{
    auto const seconds = clock_of(entry).seconds([&] {
        for (std::uint64_t call = 0; call < calls; ++call) {
            entry.call();
        }
    });
    return seconds / static_cast<double>(calls);
}

/// How many calls of this pace fill so many seconds: the same number on all ranks.
std::uint64_t Trial::calls_in(double seconds, double pace) const
{
    auto const calls = std::clamp(std::ceil(seconds / std::max(pace, 1e-9)), 1.0, most_calls);
    return run_.team.from_root(static_cast<std::uint64_t>(calls));
}

/// Calls before a warm sample, and in one: enough to fill its least time. One call by itself is
/// slower than many in a row, so its pace says how many to try. A clock may be so coarse that it
/// shows nothing of one call: then a sample is several of the shortest that it shows.
void Trial::choose_calls(Entry& entry)
{
    if (entry.is_cold) {
        return;
    }
    bool const is_repeated = !on_reset_ && !entry.variant->on_reset_;
    restore_caches(entry);
    auto alone = seconds_of(entry, 1);
    std::uint64_t visible = 1;
    while (is_repeated && !(alone > 0) && visible < most_calls_unseen) {
        visible *= 2;
        restore_caches(entry);
        alone = seconds_of(entry, visible);
    }
    if (!(alone > 0)) {
        entry.verdict.fail(fmt::format("its clock stood still during {} calls", visible));
        return;
    }
    entry.settling = std::min(settling_calls, calls_in(settling_s, alone));
    if (is_repeated) {
        auto const least_s = run_.settings.min_time_s;
        auto const some = std::max<std::uint64_t>(visible, calls_in(least_s, alone) / 4);
        restore_caches(entry);
        auto const pace = seconds_of(entry, some);
        auto const fewest = visible == 1 ? 1 : ticks_of_a_sample * visible;
        entry.iterations = std::max(calls_in(least_s, pace), fewest);
    }
}

void Trial::time_rounds(std::vector<Entry>& entries)
{
    std::vector<Entry*> order;
    for (auto& entry : entries) {
        choose_calls(entry);
        if (entry.verdict.passed) {
            order.push_back(&entry);
        }
    }
    auto const rounds = run_.settings.rounds;
    auto const audit = random_.below(rounds);
    for (std::size_t round = 0; round < rounds; ++round) {
        run_.pacer.turn("round");
        if (round == audit) {
            refill();
        }
        run_.meter.start();
        random_.shuffle(order);
        for (auto* entry : order) {
            take_sample(*entry);
            if (round == audit && entry->verdict.passed) {
                check_results(*entry, "a timed call");
            }
        }
        run_.meter.stop();
    }
    for (auto* entry : order) {
        require_finite(*entry);
    }
}

/// A result holds no other numbers: with one it could not be read, and all of it would be lost.
void Trial::require_finite(Entry& entry) const
{
    auto const require = [&](std::string const& name, double value) {
        if (!std::isfinite(value) && entry.verdict.passed) {
            entry.verdict.fail(
                fmt::format("it counts {} of '{}', which is no finite number", value, name));
        }
    };
    for (auto const& [name, value] : entry.variant->counts_) {
        require(name, value);
    }
    for (auto const& [name, values] : entry.rounds) {
        for (double const value : values) {
            require(name, value);
        }
    }
}

/// Resets and poisons. Warm: some calls before, so that what fits is in the caches. Cold: evicts
/// everything, also where results go: with the host's caches as they were, products that left `y`
/// there took up to twice as long (`fem3-gpu` on an H100: 0.46 ms, not 0.26). The poison stays
/// until the timed call overwrites it. What other targets were told to do is done before; what this
/// one was told may be queued, so that the call begins without a gap.
void Trial::restore_caches(Entry& entry)
{
    auto& runs = *entry.variant->runs_;
    auto& results = *entry.variant->results_;
    reset(entry);
    auto const calls = entry.is_cold ? 0 : entry.settling;
    for (std::uint64_t call = 0; call < calls; ++call) {
        entry.call();
        reset(entry);
    }
    poison();
    for (auto* const target : targets_) {
        if (target != &runs) {
            target->finish();
        }
    }
    if (entry.is_cold && &results != &runs) {
        results.flush();
    }
    if (entry.is_cold) {
        runs.flush();
    }
}

void Trial::take_sample(Entry& entry)
{
    restore_caches(entry);
    clock_of(entry).wake();
    if (is_profiled()) {
        entry.variant->runs_->profile(true);
    }
    auto const seconds = seconds_of(entry, entry.iterations);
    if (is_profiled()) {
        entry.variant->runs_->profile(false);
    }
    if (!(seconds > 0) && entry.verdict.passed) {
        entry.verdict.fail(fmt::format("its clock stood still, or went back, during a sample of {} "
                                       "calls: --min-time makes samples longer",
                                       entry.iterations));
    }
    entry.samples.push_back(rounded(seconds));
    for (auto const& [name, read] : entry.variant->counters_) {
        entry.rounds[name].push_back(rounded(read()));
    }
    if (entry.variant->timeline_) {
        entry.timelines.push_back(entry.variant->timeline_());
    }
}

} // namespace bench
