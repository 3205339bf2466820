#pragma once

#include "bench/trial.hpp"
#include "energy/clocks.hpp"

#include <memory>

namespace joules {

/// The energy counter of the host's processors and the clock that reads it.
class HostMeter
{
public:
    /// To be called before others in each trial; throws base::NotApplicable where the processors'
    /// counters cannot be read. Samples of a test last one step.
    void begin(bench::Trial const& trial);

    /// Measures a variant in joules too.
    bench::Variant& operator()(bench::Variant& variant);

private:
    std::unique_ptr<energy::Counter> counter_;
    std::unique_ptr<energy::HostEnergyClock> clock_;
};

/// host.cpp: reading so many bytes from memory, and from the caches of each core.
void host_levels(bench::Trial& trial, HostMeter& meter);

/// As above: multiply-adds in registers. `T` is float or double.
template <class T>
void host_operations(bench::Trial& trial, HostMeter& meter);

} // namespace joules
