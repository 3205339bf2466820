#pragma once

#include "bench/trial.hpp"
#include "cuda/gpu.hpp"

#include <cstddef>
#include <string>

/// The studies of a GPU and its bus.
namespace machine_ceilings {

/// device_memory.cpp: reading tables in order.
void device_read(bench::Trial& trial, cuda::Gpu& gpu);

/// As above: reading elements of tables in no order. `T` is float or double.
template <class T>
void device_gather(bench::Trial& trial, cuda::Gpu& gpu);

/// As above: one array into another, both in the memory of the device.
void device_copy(bench::Trial& trial, cuda::Gpu& gpu);

/// device_cores.cpp: reading shared memory, a word or 16 bytes at a time. `T` is float or double.
template <class T>
void device_shared(bench::Trial& trial, cuda::Gpu& gpu);

/// As above: multiply-adds in registers. `T` is float or double.
template <class T>
void device_fma(bench::Trial& trial, cuda::Gpu& gpu);

/// As above: warps that take numbers from one counter, one at a time or several.
void device_take(bench::Trial& trial, cuda::Gpu& gpu);

/// launches.cpp: a way of launching, `count` kernels, of which each leaves a mark. A call may wait
/// for them, or begin when the device has nothing to do, and then alone makes a sample.
void launches(bench::Trial& trial, cuda::Gpu& gpu, std::string const& name, std::size_t count,
              bench::Clock& clock, bool waits, bool begins_idle);

/// bus.cpp: over the bus to the device, to the host, and both at once, each in a stream of its own.
void bus_to_device(bench::Trial& trial, cuda::Gpu& gpu);
void bus_to_host(bench::Trial& trial, cuda::Gpu& gpu);
void bus_both(bench::Trial& trial, cuda::Gpu& gpu);

} // namespace machine_ceilings
