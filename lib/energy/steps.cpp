#include "energy/steps.hpp"

#include <chrono>

namespace energy {

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void CounterSteps::poll()
{
    Reading const reading{time_(), counter_->joules()};
    if (!was_read_) {
        was_read_ = true;
        last_.joules = reading.joules;
        return;
    }
    if (reading.joules == last_.joules) {
        return;
    }
    last_ = reading;
    first_ = changes_ == 0 ? reading : first_;
    ++changes_;
}

} // namespace energy
