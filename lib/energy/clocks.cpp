#include "energy/clocks.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>

namespace energy {

namespace {

/// A counter that shows nothing for so long shows nothing at all.
constexpr double patience_s = 10;

} // namespace

double MeteringClock::seconds(std::function<void()> const& batch)
{
    if (!is_sample_ || bench::is_profiled()) {
        return once(batch);
    }
    is_sample_ = false;
    CounterSteps steps{*counter_};
    auto const deadline = now() + least_s_ + patience_s;
    auto const is_enough = [&] {
        steps.poll();
        if (now() > deadline) {
            throw std::runtime_error{fmt::format("the energy counter {} stood still for {} s",
                                                 counter_->name(), patience_s)};
        }
        return steps.count() > 0 && steps.seconds() >= least_s_;
    };
    auto const seconds = repeated(batch, is_enough);
    joules_ = steps.watts() * seconds;
    step_s_ = steps.seconds() / static_cast<double>(steps.count());
    return seconds;
}

double HostEnergyClock::repeated(std::function<void()> const& batch,
                                 std::function<bool()> const& is_enough)
{
    double sum = 0;
    double batches = 0;
    while (!is_enough()) {
        sum += host_.seconds(batch);
        ++batches;
    }
    return sum / batches;
}

void meter(bench::Variant& variant, MeteringClock& clock)
{
    variant.clock(clock);
    variant.count("joules", [&clock](std::uint64_t calls) {
        return clock.joules() / static_cast<double>(calls);
    });
    variant.count("step_ms", [&clock] { return 1e3 * clock.step_s(); });
}

} // namespace energy
