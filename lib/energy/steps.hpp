#pragma once

#include "energy/counter.hpp"

#include <cstddef>
#include <functional>

namespace energy {

/// Seconds of `std::chrono::steady_clock`.
double now();

/// The steps of a counter, as somebody sees them who polls it: from the first change of its number
/// to the last one seen so far. Energy and time between two steps belong together; of a counter
/// that is merely read before and after some work, up to two steps would be wrong.
class CounterSteps
{
public:
    /// `time` tells seconds; both must outlive this.
    explicit CounterSteps(Counter& counter, std::function<double()> time = now)
        : counter_{&counter}, time_{std::move(time)}
    {
    }

    /// Reads the counter. Throws as that does.
    void poll();

    /// Whole steps that were seen; all else may be asked for once there is one.
    std::size_t count() const { return changes_ > 0 ? changes_ - 1 : 0; }

    /// From the first step's beginning to the last one's end.
    double seconds() const { return last_.at_s - first_.at_s; }
    double joules() const { return last_.joules - first_.joules; }
    double watts() const { return joules() / seconds(); }

private:
    struct Reading
    {
        double at_s = 0;
        double joules = 0;
    };

    Counter* counter_;
    std::function<double()> time_;
    bool was_read_ = false;
    std::size_t changes_ = 0;
    Reading first_;
    Reading last_;
};

} // namespace energy
