#pragma once

#include "bench/experiment.hpp"

#include <array>
#include <string>

namespace machine_ceilings {

/// What runs on a GPU or talks to it.
inline constexpr std::array device_kernels{
    "device_read",     "device_copy",     "device_gather",   "device_take",
    "device_shared",   "device_fma",      "launch_and_wait", "launch_between_events",
    "launch_in_queue", "launch_in_graph", "bus_to_device",   "bus_to_host",
    "bus_both"};

/// Adds the ceilings of the GPU to the first process, where there is a GPU.
void add_device_ceilings(bench::Experiment& experiment);

/// Measures one of `device_kernels`; not applicable, with the reason, where this machine or this
/// program cannot. `T` is float or double.
template <class T>
void measure_on_device(std::string const& kernel, bench::Trial<T>& trial);

} // namespace machine_ceilings
