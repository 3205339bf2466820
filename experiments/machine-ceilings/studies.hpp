#pragma once

#include "bench/team.hpp"
#include "bench/trial.hpp"
#include "ceilings/array.hpp"
#include "ceilings/cache_line.hpp"
#include "ceilings/fma.hpp"
#include "ceilings/latency.hpp"
#include "ceilings/memory.hpp"
#include "ceilings/openmp_cost.hpp"
#include "ceilings/reference.hpp"
#include "ceilings/stream_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

/// The studies of the host: memory first, then what processors compute and tell each other.
namespace machine_ceilings {

/// Three arrays, each part touched first by the thread that works on it; `b` and `c` are inputs of
/// the trial.
template <class T>
struct Arrays
{
    int threads;
    std::size_t count;
    ceilings::Array<T> a{count, threads};
    ceilings::Array<T> b{count, threads};
    ceilings::Array<T> c{count, threads};

    Arrays(bench::Trial& trial, std::size_t elements) : threads{trial.threads()}, count{elements}
    {
        trial.input(b.span());
        trial.input(c.span());
    }

    double bytes(int arrays) const { return static_cast<double>(count * sizeof(T)) * arrays; }
};

/// Elements of each of two arrays that have four caches together; in a test of the program, where
/// that can be gigabytes, few.
template <class T>
std::size_t beyond_caches(bench::Trial const& trial)
{
    return trial.is_test() ? 1'000'003 : 2 * bench::host().cache_bytes() / sizeof(T);
}

/// Elements of an array that is read once after the caches were emptied: nothing of it can be in
/// them, whatever its size, so 128 MiB will do. What is written has to be far more than the caches
/// hold, as they may keep the end of it to themselves.
template <class T>
std::size_t enough_to_read(bench::Trial const& trial)
{
    constexpr std::size_t bytes = std::size_t{128} << 20;
    return std::min(beyond_caches<T>(trial), bytes / sizeof(T));
}

/// The dot product of two arrays: nothing but reads.
inline constexpr auto read = []<class T>(bench::Trial& trial) {
    trial.cache(bench::Cache::cold); // also where they would fit into a large one
    Arrays<T> on{trial, enough_to_read<T>(trial)};
    auto const output = trial.output<T>(1);
    auto const sum = output.on();
    trial.work({.flops = 2.0 * static_cast<double>(on.count), .bytes = on.bytes(2)});
    output.expect([&] { return ceilings::dot_reference<T>(on.b, on.c); });
    trial
        .add("babelstream_dot",
             [&] {
                 sum[0] = ceilings::babelstream_dot(on.b.data(), on.c.data(), on.count, on.threads);
             })
        .group("peer");
    trial.add("read_simd", [&] { sum[0] = ceilings::read_simd<T>(on.b, on.c, on.threads); });
    trial.add("read_four_streams",
              [&] { sum[0] = ceilings::read_four_streams<T>(on.b, on.c, on.threads); });
    trial.run();
};

/// "16_KiB", "4_MiB": a number of bytes that is a power of two.
inline std::string binary_size(std::size_t bytes)
{
    constexpr std::size_t mebi = 1 << 20;
    return bytes < mebi ? std::to_string(bytes >> 10) + "_KiB"
                        : std::to_string(bytes / mebi) + "_MiB";
}

/// One array into another.
inline void copy(bench::Trial& trial)
{
    Arrays<double> on{trial, beyond_caches<double>(trial)};
    trial.work({.bytes = on.bytes(2)});
    trial.output(on.a.span()).expect([&] { return ceilings::copy_reference<double>(on.b); });
    trial
        .add("stream_copy",
             [&] { ceilings::stream_copy(on.b.data(), on.a.data(), on.count, on.threads); })
        .group("peer");
    trial.add("copy_simd", [&] { ceilings::copy_simd<double>(on.b, on.a, on.threads); });
    trial.add("copy_streaming_stores",
              [&] { ceilings::copy_streaming_stores<double>(on.b, on.a, on.threads); });
    trial.run();
}

/// Two arrays, one of them scaled, into a third.
inline void triad(bench::Trial& trial)
{
    Arrays<double> on{trial, beyond_caches<double>(trial)};
    constexpr double scalar = 3;
    trial.work({.flops = 2.0 * static_cast<double>(on.count), .bytes = on.bytes(3)});
    trial.output(on.a.span()).expect([&] {
        return ceilings::triad_reference<double>(on.b, scalar, on.c);
    });
    trial
        .add("stream_triad",
             [&] {
                 ceilings::stream_triad(on.a.data(), on.b.data(), scalar, on.c.data(), on.count,
                                        on.threads);
             })
        .group("peer");
    trial.add("triad_simd",
              [&] { ceilings::triad_simd<double>(on.a, on.b, scalar, on.c, on.threads); });
    trial.add("triad_streaming_stores", [&] {
        ceilings::triad_streaming_stores<double>(on.a, on.b, scalar, on.c, on.threads);
    });
    trial.run();
}

/// Loads that wait for each other, in working sets from a first-level cache to memory.
inline void latency(bench::Trial& trial)
{
    if (trial.threads() != 1) {
        trial.not_applicable("a chain of loads keeps one thread busy: measured with one");
    }
    constexpr std::uint64_t steps = 1 << 16;
    constexpr std::size_t smallest = 1 << 14;
    constexpr std::size_t largest = 1 << 30;
    auto const output = trial.output<double>(1);
    trial.cache(bench::Cache::warm);
    trial.work({.operations = static_cast<double>(steps)});
    output.expect([=] { return ceilings::counted(1, static_cast<double>(steps)); });
    for (auto bytes = smallest; bytes <= largest && bytes < 16 * bench::host().cache_bytes();
         bytes *= 4) {
        auto const chase = [walked = output.on(), bytes](bench::Variant&) {
            auto const cycle = std::make_shared<ceilings::PointerChase>(bytes);
            return [walked, cycle] { walked[0] = static_cast<double>(cycle->follow(steps)); };
        };
        trial.add("chase_" + binary_size(bytes), chase).excerpt("pointer_chase");
    }
    trial.run();
}

/// Multiply-adds in registers: with each instruction set of this CPU, and in a single chain.
inline constexpr auto fma = []<class T>(bench::Trial& trial) {
    int const threads = trial.threads();
    auto const start = trial.input<T>(ceilings::fma_elements<T>).on();
    auto const factors = trial.input<T>(2).on();
    auto const output = trial.output<T>(start.size() * static_cast<std::size_t>(threads));
    trial.work({.flops = ceilings::fma_flops<T>(threads)});
    output.expect(
        [=] { return ceilings::fma_reference<T>(start, factors[0], factors[1], threads); });
    for (auto const& variant : ceilings::fma_variants<T>()) {
        auto const call = [=, sum = output.on(), kernel = variant.kernel] {
            ceilings::run_fma<T>(kernel, start, factors[0], factors[1], sum, threads);
        };
        trial.add(variant, call).excerpt("fma_chains");
    }
    trial.run();
};

/// What threads of a trial do that only count: `counters` of them, each to `rounds`.
inline std::span<double> counting(bench::Trial& trial, std::size_t counters, std::uint64_t rounds)
{
    auto const most = static_cast<double>(rounds);
    trial.work({.operations = most});
    return trial.output<double>(counters)
        .expect([=] { return ceilings::counted(counters, most); })
        .on();
}

/// Opening a parallel region, and meeting at a barrier inside one.
inline void fork_join(bench::Trial& trial)
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

/// The launch in which what two threads do is measured.
inline void require_two_threads(bench::Trial const& trial)
{
    if (trial.threads() != 2) {
        trial.not_applicable("two threads take part: measured in the launch with two");
    }
    if (bench::usable_cpus().size() < 2) {
        trial.not_applicable("two threads take part, and one processor may be used");
    }
}

/// Handing a cache line from one CPU to another and back, for at most 28 pairs.
inline void hand_over(bench::Trial& trial)
{
    require_two_threads(trial);
    constexpr std::uint64_t rounds = 1 << 17;
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

/// Two counters in one cache line, and in two.
inline void false_sharing(bench::Trial& trial)
{
    require_two_threads(trial);
    constexpr std::uint64_t rounds = 1 << 22;
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
