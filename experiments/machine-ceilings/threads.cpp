#include "studies.hpp"

#include "bench/team.hpp"
#include "ceilings/cache_line.hpp"
#include "ceilings/openmp_cost.hpp"
#include "ceilings/reference.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace machine_ceilings {

namespace {

/// What threads of a trial do that only count: `counters` of them, each to `rounds`.
std::span<double> counting(bench::Trial& trial, std::size_t counters, std::uint64_t rounds)
{
    auto const most = static_cast<double>(rounds);
    trial.work({.operations = most});
    return trial.output<double>(counters)
        .expect([=] { return ceilings::counted(counters, most); })
        .on();
}

/// The launch in which what two threads do is measured.
void require_two_threads(bench::Trial const& trial)
{
    if (trial.threads() != 2) {
        trial.not_applicable("two threads take part: measured in the launch with two");
    }
    if (bench::usable_cpus().size() < 2) {
        trial.not_applicable("two threads take part, and one processor may be used");
    }
}

} // namespace

void fork_join(bench::Trial& trial)
{
    constexpr std::uint64_t rounds = 64;
    int const threads = trial.threads();
    auto const counts = counting(trial, static_cast<std::size_t>(threads), rounds);
    trial.add("parallel_region", [=] {
        std::ranges::copy(ceilings::parallel_regions(threads, rounds), counts.begin());
    });
    trial.add("barrier",
              [=] { std::ranges::copy(ceilings::barriers(threads, rounds), counts.begin()); });
    trial.run();
}

void hand_over(bench::Trial& trial)
{
    require_two_threads(trial);
    std::uint64_t const rounds = trial.is_test() ? 1 << 10 : 1 << 17;
    auto const counts = counting(trial, 1, rounds);
    for (auto const& pair : ceilings::cpu_pairs(bench::usable_cpus(), 28)) {
        auto const name =
            "hand_over_" + std::to_string(pair.first) + "_" + std::to_string(pair.second);
        auto const call = [=] {
            counts[0] = static_cast<double>(ceilings::hand_over(pair, rounds));
        };
        trial.add(name, call).excerpt("hand_over");
    }
    trial.run();
}

void false_sharing(bench::Trial& trial)
{
    require_two_threads(trial);
    std::uint64_t const rounds = trial.is_test() ? 1 << 12 : 1 << 22;
    auto const counts = counting(trial, 2, rounds);
    auto const pair = ceilings::cpu_pairs(bench::usable_cpus(), 1).at(0);
    auto const add = [&](std::string const& name, auto count) {
        auto const call = [=] {
            auto const [first, second] = count(pair, rounds);
            counts[0] = static_cast<double>(first);
            counts[1] = static_cast<double>(second);
        };
        trial.add(name, call).excerpt("false_sharing");
    };
    add("one_line", ceilings::count_in_one_line);
    add("two_lines", ceilings::count_in_two_lines);
    trial.run();
}

} // namespace machine_ceilings
