#pragma once

#include "machine/cpu.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace machine {

/// Bytes of main memory; what of it may be had is asked in machine/limits.hpp.
std::size_t memory_bytes();

/// The kernel's name and release: "Linux 6.1.0".
std::string operating_system();

/// What cores or a GPU can do at best, by the numbers of the vendor, as results record it: a list
/// of
/// `{"name": of the ceiling that is measured of the same, "bytes_per_s" or "flops_per_s": number,
/// "source": the factors, and where they come from}`.
///
/// Of so many cores `fma_fp32` and `fma_fp64`. None where the clock or the family is unknown. What
/// memory could do is not told: its clock and its channels stand in tables of the firmware (DMI),
/// which take rights to read.
nlohmann::ordered_json peaks(Cpu const& cpu, int cores);

/// Of a GPU `device_read`, `device_fma_fp32`, `device_fma_fp64`, `bus_to_device` and `bus_to_host`
/// (each direction alone), as far as they follow from its `compute_capability`, `multiprocessors`,
/// `max_clock_hz` of these, `max_memory_clock_hz` (data moves at both edges), `memory_bus_bits` and
/// `bus`. What is missing or 0 is unknown.
nlohmann::ordered_json peaks(nlohmann::ordered_json const& gpu);

// What NVIDIA's driver tells about the GPUs of this machine. Its libraries are loaded when they are
// asked for, so that nothing needs them, neither when it is built nor when it starts.

/// What stays the same of every GPU, in the driver's order, as results record it: the schema says
/// what. What the driver does not tell is missing. Empty without driver or GPU.
nlohmann::ordered_json gpus();

/// The state of each of `gpus()` now, as results record it: clocks, power, temperature, and why the
/// clocks are not higher, an empty list if nothing holds them back. `null` without any.
nlohmann::ordered_json gpu_states();

/// Watches the GPUs while this process computes on them.
class GpuWitness
{
public:
    /// What may have disturbed this process there.
    struct Counts
    {
        std::uint64_t throttled_ns = 0; ///< that power or heat have slowed them down so far
        std::uint64_t others = 0;       ///< processes that compute there now, beside this one
    };

    GpuWitness();
    ~GpuWitness();

    Counts now() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Version of the driver; empty without one.
std::string gpu_driver_version();

/// A machine's name for folders and pages, in lower-case letters, digits and single hyphens: two
/// cores called "Intel(R) Xeon(R) Processor @ 2.50GHz" and four `gpus` of the name "NVIDIA H200"
/// are an "intel-xeon-2-50ghz-2c-4x-h200".
std::string slug(std::string_view cpu_model, int cores, nlohmann::ordered_json const& gpus);

} // namespace machine
