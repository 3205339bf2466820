#include "ceilings/probes.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace ceilings {

namespace {

double seconds(std::function<void()> const& run)
{
    auto const start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

bool is_faster(std::function<void()> const& first, std::function<void()> const& second)
{
    auto shortest_first = std::numeric_limits<double>::infinity();
    auto shortest_second = shortest_first;
    for (int run = 0; run < 3; ++run) {
        shortest_first = std::min(shortest_first, seconds(first));
        shortest_second = std::min(shortest_second, seconds(second));
    }
    return shortest_first < shortest_second;
}

} // namespace ceilings
