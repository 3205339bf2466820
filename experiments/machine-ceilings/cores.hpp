#pragma once

#include "memory.hpp"

#include "ceilings/cache_line.hpp"
#include "ceilings/fma.hpp"
#include "ceilings/openmp_cost.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace machine_ceilings {

/// Multiply-adds in registers: with each instruction set of this CPU, and in a single chain.
template <class T>
void arithmetic(bench::Trial<T>& trial)
{
    int const threads = trial.threads();
    auto const start = trial.input(ceilings::fma_elements<T>);
    auto const factors = trial.input(2);
    std::vector<T> sum(start.size() * static_cast<std::size_t>(threads));
    trial.work({.flops = ceilings::fma_flops<T>(threads)});
    trial.output(sum);
    trial.expect([&] {
        return expected(ceilings::fma_reference<T>(start, factors[0], factors[1], threads));
    });
    for (auto const& variant : ceilings::fma_variants<T>()) {
        auto const call = [=, &sum, kernel = variant.kernel] {
            ceilings::run_fma<T>(kernel, start, factors[0], factors[1], sum, threads);
        };
        trial.add(variant, call).excerpt("fma_chains");
    }
    trial.run();
}

/// A trial in which threads only count: `counters` of them, each to `rounds`.
template <class T>
std::vector<T> counting(bench::Trial<T>& trial, std::size_t counters, std::uint64_t rounds)
{
    trial.work({.operations = static_cast<double>(rounds)});
    trial.expect(
        [=] { return expected(ceilings::counted(counters, static_cast<double>(rounds))); });
    return std::vector<T>(counters);
}

/// Opening a parallel region, and meeting at a barrier inside one.
template <class T>
void fork_join(bench::Trial<T>& trial)
{
    require_fp64(trial);
    constexpr std::uint64_t rounds = 64;
    int const threads = trial.threads();
    auto counts = counting(trial, static_cast<std::size_t>(threads), rounds);
    trial.output(counts);
    trial.add("parallel_region", [&] {
        std::ranges::copy(ceilings::parallel_regions(threads, rounds), counts.begin());
    });
    trial.add("barrier",
              [&] { std::ranges::copy(ceilings::barriers(threads, rounds), counts.begin()); });
    trial.run();
}

/// The launch in which what two threads do is measured.
template <class T>
void require_two_threads(bench::Trial<T>& trial)
{
    if (trial.threads() != 2) {
        trial.not_applicable("two threads take part: measured in the launch with two");
    }
}

/// Handing a cache line from one CPU to another and back, for at most 28 pairs.
template <class T>
void hand_over(bench::Trial<T>& trial)
{
    require_fp64(trial);
    require_two_threads(trial);
    constexpr std::uint64_t rounds = 1 << 17;
    auto counts = counting(trial, 1, rounds);
    trial.output(counts);
    for (auto const& pair : ceilings::cpu_pairs(ceilings::usable_cpus(), 28)) {
        auto const name =
            "hand_over_" + std::to_string(pair.first) + "_" + std::to_string(pair.second);
        trial
            .add(name,
                 [=, &counts] { counts[0] = static_cast<T>(ceilings::hand_over(pair, rounds)); })
            .excerpt("hand_over");
    }
    trial.run();
}

/// Two counters in one cache line, and in two.
template <class T>
void false_sharing(bench::Trial<T>& trial)
{
    require_fp64(trial);
    require_two_threads(trial);
    constexpr std::uint64_t rounds = 1 << 22;
    auto counts = counting(trial, 2, rounds);
    trial.output(counts);
    auto const pair = ceilings::cpu_pairs(ceilings::usable_cpus(), 1).at(0);
    auto const add = [&](std::string const& name, auto count) {
        auto const call = [=, &counts] {
            auto const [first, second] = count(pair, rounds);
            counts = {static_cast<T>(first), static_cast<T>(second)};
        };
        trial.add(name, call).excerpt("false_sharing");
    };
    add("one_line", ceilings::count_in_one_line);
    add("two_lines", ceilings::count_in_two_lines);
    trial.run();
}

} // namespace machine_ceilings
