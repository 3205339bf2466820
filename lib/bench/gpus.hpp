#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace bench {

// What NVIDIA's driver tells about the GPUs of this machine. Its libraries are loaded when they are
// asked for, so that nothing needs them, neither when it is built nor when it starts.

/// The `gpus` array of a result's machine: what stays the same. Empty without driver or GPU.
nlohmann::ordered_json gpu_records();

/// Clocks, power, temperature of each GPU now, and what holds its clocks back.
nlohmann::ordered_json gpu_states();

/// Version of the driver; empty without one.
std::string gpu_driver_version();

} // namespace bench
