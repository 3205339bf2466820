#include "machine/system.hpp"

#include <fmt/format.h>

#include <array>

namespace machine {

namespace {

using Json = nlohmann::ordered_json;

/// Fused multiply-adds in single precision that a core can begin each clock; half as many in
/// double.
struct CoreRate
{
    std::string_view vendor;
    int family, first_model, last_model;
    int fp32;
    std::string_view source;
};

constexpr std::string_view optimization_manual = "Intel's optimization reference manual, 248966";
constexpr std::array<CoreRate, 11> core_rates{{
    {"amd", 23, 0x00, 0x2f, 8, "AMD's optimization guide of family 17h, 55723"},           // Zen
    {"amd", 23, 0x30, 0xff, 16, "AMD's optimization guide of family 17h from 30h, 56305"}, // Zen 2
    {"amd", 25, 0x00, 0xff, 16, "AMD's optimization guides of family 19h, 56665 and 57647"}, // 3, 4
    {"amd", 26, 0x00, 0x1f, 32, "AMD's optimization guide of Zen 5, 58455"}, // servers
    {"amd", 26, 0x40, 0x4f, 32, "AMD's optimization guide of Zen 5, 58455"}, // desktops
    // Not Zen 5 in notebooks, whose units are narrower, nor Intel's Skylake and Cascade Lake (85),
    // some of which have one unit for vectors of 64 bytes, some two.
    {"intel", 6, 63, 63, 16, optimization_manual},   // Haswell
    {"intel", 6, 79, 79, 16, optimization_manual},   // Broadwell
    {"intel", 6, 106, 106, 32, optimization_manual}, // Ice Lake
    {"intel", 6, 143, 143, 32, optimization_manual}, // Sapphire Rapids
    {"intel", 6, 173, 173, 32, optimization_manual}, // Granite Rapids
    {"intel", 6, 207, 207, 32, optimization_manual}, // Emerald Rapids
}};

/// Fused multiply-adds that a multiprocessor can begin each clock.
struct MultiprocessorRate
{
    std::string_view compute_capability;
    int fp32, fp64;
};

constexpr std::string_view multiprocessor_source =
    "CUDA C++ Programming Guide, throughput of native arithmetic instructions";
constexpr std::array<MultiprocessorRate, 7> multiprocessor_rates{{
    {"7.0", 64, 32},
    {"7.5", 64, 2},
    {"8.0", 64, 32},
    {"8.6", 128, 2},
    {"8.9", 128, 2},
    {"9.0", 128, 64},
    {"10.0", 128, 64},
}};

/// What a lane of PCI Express carries in each direction, and the part of it that is left for data
/// by the code on the line: the base specifications, since 6.0 with flits of 256 bytes.
struct LaneRate
{
    double bits_per_s;
    double data, sent;
    std::string_view code;
};

constexpr std::array<LaneRate, 6> lane_rates{{
    {2.5e9, 8, 10, "8b/10b"},
    {5e9, 8, 10, "8b/10b"},
    {8e9, 128, 130, "128b/130b"},
    {16e9, 128, 130, "128b/130b"},
    {32e9, 128, 130, "128b/130b"},
    {64e9, 236, 256, "236 of 256 bytes of a flit"},
}};

/// A driver may answer 0 for what it does not know.
void add(Json& peaks, char const* name, char const* unit, double value, std::string const& source)
{
    if (value > 0) {
        peaks.push_back({{"name", name}, {unit, value}, {"source", source}});
    }
}

/// The rate of `units` equal parts that each begin so many multiply-adds a clock.
void add_fma(Json& peaks, char const* name, double clock_hz, int units, char const* unit, int each,
             std::string_view source)
{
    add(peaks, name, "flops_per_s", clock_hz * units * each * 2,
        fmt::format("{:.0f} MHz at most x {} {} x {} FMAs each clock x 2; {}", clock_hz / 1e6,
                    units, unit, each, source));
}

} // namespace

Json peaks(Cpu const& cpu, int cores)
{
    auto found = Json::array();
    if (!cpu.signature || !cpu.max_clock_hz) {
        return found;
    }
    auto const [family, model, stepping] = *cpu.signature;
    for (auto const& rate : core_rates) {
        if (rate.vendor == cpu.vendor && rate.family == family && rate.first_model <= model &&
            model <= rate.last_model) {
            double const hz = *cpu.max_clock_hz;
            add_fma(found, "fma_fp32", hz, cores, "cores", rate.fp32, rate.source);
            add_fma(found, "fma_fp64", hz, cores, "cores", rate.fp32 / 2, rate.source);
        }
    }
    return found;
}

Json peaks(Json const& gpu)
{
    auto found = Json::array();
    double const memory_hz = gpu.value("max_memory_clock_hz", 0.0);
    int const bits = gpu.value("memory_bus_bits", 0);
    add(found, "device_read", "bytes_per_s", memory_hz * 2 * bits / 8,
        fmt::format("{:.0f} MHz at most x 2 x {} bits / 8, as the driver tells", memory_hz / 1e6,
                    bits));
    double const hz = gpu.value("max_clock_hz", 0.0);
    int const units = gpu.value("multiprocessors", 0);
    for (auto const& [capability, fp32, fp64] : multiprocessor_rates) {
        if (gpu.value("compute_capability", "") == capability) {
            constexpr auto source = multiprocessor_source;
            add_fma(found, "device_fma_fp32", hz, units, "multiprocessors", fp32, source);
            add_fma(found, "device_fma_fp64", hz, units, "multiprocessors", fp64, source);
        }
    }
    auto const bus = gpu.value("bus", Json::object());
    int const generation = bus.value("generation", 0);
    if (generation >= 1 && generation <= static_cast<int>(lane_rates.size())) {
        int const lanes = bus.value("lanes", 0);
        auto const& [bits_per_s, data, sent, code] =
            lane_rates[static_cast<std::size_t>(generation) - 1];
        double const before = bits_per_s / 8 * lanes;
        double const after = before * data / sent;
        auto const source = fmt::format(
            "PCI Express {}.0 x{}, one direction: {:.4g} GB/s, and after encoding ({}) {:.4g}",
            generation, lanes, before / 1e9, code, after / 1e9);
        add(found, "bus_to_device", "bytes_per_s", after, source);
        add(found, "bus_to_host", "bytes_per_s", after, source);
    }
    return found;
}

} // namespace machine
