#include "bench/target.hpp"

#include <omp.h>

#include <atomic>
#include <chrono>

namespace bench {

namespace {

using std::chrono::steady_clock;

/// Whether the threads of a team all come at once: none waits for a processor.
bool are_awake()
{
    auto const at_once = std::chrono::microseconds{100 + omp_get_max_threads()};
    std::atomic<int> came = 0; // without it a compiler may leave out the region
    auto const start = steady_clock::now();
#pragma omp parallel
    ++came;
    return steady_clock::now() - start < at_once;
}

} // namespace

void HostClock::wake()
{
    constexpr auto patience = std::chrono::milliseconds{20};
    constexpr int times = 3; // in a row: it may be luck once
    if (omp_get_max_threads() > omp_get_num_procs()) {
        return;
    }
    auto const deadline = steady_clock::now() + patience;
    for (int found = 0; found < times && steady_clock::now() < deadline;) {
        found = are_awake() ? found + 1 : 0;
    }
}

double HostClock::seconds(std::function<void()> const& batch)
{
    auto const start = steady_clock::now();
    batch();
    return std::chrono::duration<double>(steady_clock::now() - start).count();
}

} // namespace bench
