#pragma once

#include "machine/cpu.hpp"
#include "machine/gpus.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace machine {

/// What a part of the machine can do at best, by the numbers of its vendor.
struct Peak
{
    std::string_view name; ///< of the ceiling that is measured of the same
    std::string_view unit; ///< "bytes_per_s" or "flops_per_s"
    double value;
    std::string source; ///< the factors, and where they come from
};

/// `fma_fp32` and `fma_fp64` of so many cores. None where the clock or the family is unknown. What
/// memory could do is not told: its clock and its channels stand in tables of the firmware (DMI),
/// which take rights to read.
std::vector<Peak> peaks(Cpu const& cpu, int cores);

/// `device_read`, `device_fma_fp32`, `device_fma_fp64`, `bus_to_device` and `bus_to_host` (each
/// direction alone), as far as the driver tells what they are made of.
std::vector<Peak> peaks(Gpu const& gpu);

} // namespace machine
