#include "bench/clock.hpp"

#include <chrono>

namespace bench {

double HostClock::seconds(std::function<void()> const& batch)
{
    auto const start = std::chrono::steady_clock::now();
    batch();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace bench
