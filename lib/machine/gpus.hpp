#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace machine {

// What NVIDIA's driver tells about the GPUs of this machine. Its libraries are loaded when they are
// asked for, so that nothing needs them, neither when it is built nor when it starts.

/// A link of PCI Express.
struct Bus
{
    int generation;
    int lanes;
};

/// A GPU: what stays the same. What the driver does not tell is missing.
struct Gpu
{
    std::string name;
    std::optional<std::string> compute_capability; ///< "9.0"
    std::optional<int> multiprocessors;
    std::optional<unsigned long long> memory_bytes;
    std::optional<int> l2_bytes;
    std::optional<bool> ecc;
    std::optional<double> power_limit_w;
    std::optional<double> max_clock_hz;        ///< of multiprocessors
    std::optional<double> max_memory_clock_hz; ///< data moves at both edges
    std::optional<int> memory_bus_bits;
    std::optional<Bus> bus; ///< at its best between this GPU and its host
};

/// Every GPU, in the driver's order; empty without driver or GPU.
std::vector<Gpu> gpus();

/// The state of each of `gpus()` now, as results record it: clocks, power, temperature, and why the
/// clocks are not higher, an empty list if nothing holds them back. `null` without any.
nlohmann::ordered_json gpu_states();

/// Version of the driver; empty without one.
std::string gpu_driver_version();

} // namespace machine
