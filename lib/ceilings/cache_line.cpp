#include "ceilings/cache_line.hpp"

#include "machine/limits.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <system_error>
#include <thread>

namespace ceilings {

namespace {

using Counter = std::atomic<std::uint64_t>;

/// Runs both functions at once, each bound to its CPU, and returns when both have finished.
void on_two_cpus(CpuPair cpus, std::function<void()> const& first,
                 std::function<void()> const& second)
{
    std::atomic<int> state{0};
    enum
    {
        waiting,
        running,
        cancelled
    };
    auto const held_back = [&state](std::function<void()> const& work) {
        return [&state, &work] {
            state.wait(waiting);
            if (state.load() == running) {
                work();
            }
        };
    };
    std::jthread a{held_back(first)};
    std::jthread b{held_back(second)};
    auto const start = [&](int next) {
        state.store(next);
        state.notify_all();
    };
    auto const bind = [&](std::jthread& thread, int cpu) {
        machine::CpuSet set{static_cast<std::size_t>(cpu) + 1};
        set.add(cpu);
        if (int const error =
                pthread_setaffinity_np(thread.native_handle(), set.bytes(), set.get())) {
            start(cancelled);
            throw std::system_error{error, std::generic_category(),
                                    "cannot bind a thread to CPU " + std::to_string(cpu)};
        }
    };
    bind(a, cpus.first);
    bind(b, cpus.second);
    start(running);
}

//! [hand_over]
/// Answers every number of one parity with the next one.
void answer(Counter& line, std::uint64_t from, std::uint64_t hand_overs)
{
    for (std::uint64_t turn = from; turn < hand_overs; turn += 2) {
        while (line.load(std::memory_order_acquire) != turn) {
        }
        line.store(turn + 1, std::memory_order_release);
    }
}
//! [hand_over]

//! [false_sharing]
struct OneLine
{
    alignas(128) Counter first{0};
    Counter second{0};
};

struct TwoLines
{
    alignas(128) Counter first{0};
    alignas(128) Counter second{0};
};

/// Relaxed load and store: what `++counter` does to memory, and no locked instruction.
void count(Counter& counter, std::uint64_t steps)
{
    for (std::uint64_t step = 0; step < steps; ++step) {
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
}

template <class Counters>
Counts count_at_once(CpuPair cpus, std::uint64_t steps)
{
    Counters counters;
    on_two_cpus(
        cpus, [&] { count(counters.first, steps); }, [&] { count(counters.second, steps); });
    return {counters.first, counters.second};
}
//! [false_sharing]

} // namespace

std::vector<CpuPair> cpu_pairs(std::vector<int> const& cpus, std::size_t limit)
{
    std::size_t chosen = 0;
    while (chosen < cpus.size() && (chosen + 1) * chosen / 2 <= limit) {
        ++chosen;
    }
    std::vector<CpuPair> pairs;
    for (std::size_t i = 0; i < chosen; ++i) {
        for (std::size_t j = i + 1; j < chosen; ++j) {
            pairs.emplace_back(cpus[i * cpus.size() / chosen], cpus[j * cpus.size() / chosen]);
        }
    }
    return pairs;
}

std::uint64_t hand_over(CpuPair cpus, std::uint64_t hand_overs)
{
    alignas(128) Counter line{0};
    on_two_cpus(
        cpus, [&] { answer(line, 0, hand_overs); }, [&] { answer(line, 1, hand_overs); });
    return line;
}

Counts count_in_one_line(CpuPair cpus, std::uint64_t steps)
{
    return count_at_once<OneLine>(cpus, steps);
}

Counts count_in_two_lines(CpuPair cpus, std::uint64_t steps)
{
    return count_at_once<TwoLines>(cpus, steps);
}

} // namespace ceilings
