#include "ceilings/latency.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace ceilings {

PointerChase::PointerChase(std::size_t bytes)
    : lines_{std::max<std::size_t>(2, bytes / line_bytes), 1}
{
    std::vector<std::uint32_t> order(lines());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937_64{1});
    auto const all = lines_.span();
    for (std::size_t place = 0; place < order.size(); ++place) {
        auto const next = place + 1 == order.size() ? 0 : place + 1;
        all[order[place]] = {&all[order[next]], place};
    }
    at_ = &all[order[0]];
}

//! [pointer_chase]
std::uint64_t PointerChase::follow(std::uint64_t steps)
{
    auto const start = at_->place;
    for (std::uint64_t step = 0; step < steps; ++step) {
        at_ = at_->next;
    }
    auto const whole_cycles = steps / lines() * lines();
    return whole_cycles + (at_->place + lines() - start) % lines();
}
//! [pointer_chase]

} // namespace ceilings
