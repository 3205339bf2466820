#include "bench/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

namespace bench {

namespace {

constexpr double most_calls = 1e6;
constexpr std::size_t share_of_spare_rounds = 4;

/// Of a clock that is coarser than a call: where it shows nothing of so many in a row, it stands
/// still; where it does, a sample takes so many times as long.
constexpr std::uint64_t most_calls_unseen = 1 << 14;
constexpr std::uint64_t ticks_of_a_sample = 8;

/// Calls before a warm sample. A shared cache that held something else keeps part of that for a few
/// calls: matrices of a quarter of it took up to 1.7 times as long in the second call as in the
/// fifth. Of calls that take long, fewer will do: as many as fill this time, but at least one.
constexpr std::uint64_t settling_calls = 4;
constexpr double settling_s = 0.1;

/// Seconds of a call, among so many in a row.
double seconds_of(Prepared const& prepared, std::uint64_t calls)
{
    auto const seconds = prepared.clock().seconds([&] {
        for (std::uint64_t call = 0; call < calls; ++call) {
            prepared.call();
        }
    });
    return seconds / static_cast<double>(calls);
}

/// A result holds no other numbers: with one it could not be read, and all of it would be lost.
void require_finite(Prepared& prepared)
{
    auto const require = [&](std::string const& name, double value) {
        if (!std::isfinite(value) && prepared.verdict.passed) {
            prepared.verdict.fail(
                fmt::format("it counts {} of '{}', which is no finite number", value, name));
        }
    };
    for (auto const& [name, value] : prepared.facts().counts) {
        require(name, value);
    }
    for (auto const& [name, values] : prepared.rounds) {
        for (double const value : values) {
            require(name, value);
        }
    }
}

} // namespace

void Rounds::add_twins(std::vector<Prepared>& all) const
{
    auto const points = run_.points;
    auto const originals = all.size();
    auto const twins = (run_.pairs + points - 1) / points;
    for (std::size_t i = 0; i < twins; ++i) {
        auto twin = all[(run_.point.index + i) % originals];
        twin.is_twin = true;
        all.push_back(std::move(twin));
    }
}

/// How many calls of this pace fill so many seconds: the same number on all ranks.
std::uint64_t Rounds::calls_in(double seconds, double pace) const
{
    auto const calls = std::clamp(std::ceil(seconds / std::max(pace, 1e-9)), 1.0, most_calls);
    return run_.team.from_root(static_cast<std::uint64_t>(calls));
}

/// Calls before a warm sample, and in one: enough to fill its least time. One call by itself is
/// slower than many in a row, so its pace says how many to try. A clock may be so coarse that it
/// shows nothing of one call: then a sample is several of the shortest that it shows.
void Rounds::choose_calls(Prepared& prepared)
{
    if (prepared.is_cold) {
        return;
    }
    bool const is_repeated = !conditions_.has_reset(*prepared.variant);
    conditions_.restore_caches(prepared);
    auto alone = seconds_of(prepared, 1);
    std::uint64_t visible = 1;
    while (is_repeated && !(alone > 0) && visible < most_calls_unseen) {
        visible *= 2;
        conditions_.restore_caches(prepared);
        alone = seconds_of(prepared, visible);
    }
    if (!(alone > 0)) {
        prepared.verdict.fail(fmt::format("its clock stood still during {} calls", visible));
        return;
    }
    prepared.settling = std::min(settling_calls, calls_in(settling_s, alone));
    if (is_repeated) {
        auto const least_s = run_.settings.min_time_s;
        auto const some = std::max<std::uint64_t>(visible, calls_in(least_s, alone) / 4);
        conditions_.restore_caches(prepared);
        auto const pace = seconds_of(prepared, some);
        auto const fewest = visible == 1 ? 1 : ticks_of_a_sample * visible;
        prepared.iterations = std::max(calls_in(least_s, pace), fewest);
    }
}

void Rounds::time(std::vector<Prepared>& all)
{
    std::vector<Prepared*> order;
    for (auto& one : all) {
        choose_calls(one);
        if (one.verdict.passed) {
            order.push_back(&one);
        }
    }
    auto const rounds = run_.settings.rounds;
    auto const audit = random_.below(rounds);
    auto const spare = rounds / share_of_spare_rounds;
    std::size_t disturbed = 0;
    for (std::size_t round = 0; round < rounds + (disturbed > spare ? 0 : disturbed); ++round) {
        disturbed += take_round(order, round == audit);
    }
    for (auto* one : order) {
        require_finite(*one);
    }
}

/// A sample of each. Tells whether any of them was disturbed.
bool Rounds::take_round(std::vector<Prepared*>& order, bool is_audit)
{
    run_.pacer.turn("round");
    if (is_audit) {
        conditions_.refill();
    }
    auto& witness = *run_.witness;
    auto const is_on_device = [](Prepared const* one) {
        return !one->facts().runs->depends_on_threads();
    };
    bool const asks_gpus = std::ranges::any_of(order, is_on_device);
    auto const machine = witness.of_machine();
    auto const gpus = asks_gpus ? witness.of_gpus() : Disturbances{};
    run_.meter.start();
    random_.shuffle(order);
    bool is_disturbed = false;
    for (auto* one : order) {
        is_disturbed = take_sample(*one) || is_disturbed;
        if (is_audit && one->verdict.passed) {
            verification_.check_results(*one, "a timed call", conditions_);
        }
    }
    run_.meter.stop();
    auto const machine_after = witness.of_machine();
    auto const gpus_after = asks_gpus ? witness.of_gpus() : Disturbances{};
    for (auto* one : order) {
        auto const& [begin, end] =
            is_on_device(one) ? std::tie(gpus, gpus_after) : std::tie(machine, machine_after);
        is_disturbed = note(*one, begin, end) || is_disturbed;
    }
    return is_disturbed;
}

/// Notes at the last sample what happened between two times, on whatever rank: whether anything.
bool Rounds::note(Prepared& prepared, Disturbances const& before, Disturbances const& after)
{
    bool is_disturbed = false;
    for (std::size_t i = 0; i < disturbance_names.size(); ++i) {
        if (!run_.team.all(after[i] <= before[i])) {
            prepared.disturbed[std::string{disturbance_names[i]}].push_back(
                prepared.samples.size() - 1);
            is_disturbed = true;
        }
    }
    return is_disturbed;
}

/// One sample. Tells whether it was disturbed.
bool Rounds::take_sample(Prepared& prepared)
{
    conditions_.restore_caches(prepared);
    auto const before = run_.witness->of_process();
    prepared.clock().wake();
    if (is_profiled()) {
        prepared.facts().runs->profile(true);
    }
    auto const seconds = seconds_of(prepared, prepared.iterations);
    auto const after = run_.witness->of_process();
    if (is_profiled()) {
        prepared.facts().runs->profile(false);
    }
    if (!(seconds > 0) && prepared.verdict.passed) {
        prepared.verdict.fail(
            fmt::format("its clock stood still, or went back, during a sample of {} "
                        "calls: --min-time makes samples longer",
                        prepared.iterations));
    }
    prepared.samples.push_back(rounded(seconds));
    for (auto const& [name, read] : prepared.facts().counters) {
        prepared.rounds[name].push_back(rounded(read(prepared.iterations)));
    }
    if (prepared.facts().timeline) {
        prepared.timelines.push_back(prepared.facts().timeline());
    }
    return note(prepared, before, after);
}

} // namespace bench
