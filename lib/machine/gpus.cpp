#include "machine/management.hpp"
#include "machine/system.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>

namespace machine {

namespace {

using Json = nlohmann::ordered_json;
struct PciInfo
{
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct MemoryInfo
{
    unsigned long long total, free, used;
};

struct ViolationTime
{
    unsigned long long reference, violated; ///< microseconds, nanoseconds
};

template <class T>
void put(Json& record, char const* key, std::optional<T> const& value)
{
    if (value) {
        record[key] = *value;
    }
}

/// What the management library tells, and beside that the compute driver.
Json described(Management const& management, GpuHandle device, Library const& driver)
{
    auto const pci = management.get<PciInfo>("nvmlDeviceGetPciInfo_v3", device);
    int ordinal = 0;
    bool const computes = pci && driver.call("cuInit", 0U) &&
                          driver.call("cuDeviceGetByPCIBusId", &ordinal, pci->bus_id);
    auto const attribute = [&](int which) -> std::optional<int> {
        int value = 0;
        bool const known = computes && driver.call("cuDeviceGetAttribute", &value, which, ordinal);
        return known ? std::optional{value} : std::nullopt;
    };
    constexpr int multiprocessor_count = 16; // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT and so on
    constexpr int memory_clock_rate = 36;
    constexpr int global_memory_bus_width = 37;
    constexpr int l2_cache_size = 38;

    Json gpu{{"name", management.text("nvmlDeviceGetName", device)}};
    int major = 0;
    if (auto const minor =
            management.get<int>("nvmlDeviceGetCudaComputeCapability", device, &major)) {
        gpu["compute_capability"] = fmt::format("{}.{}", major, *minor);
    }
    put(gpu, "multiprocessors", attribute(multiprocessor_count));
    if (auto const memory = management.get<MemoryInfo>("nvmlDeviceGetMemoryInfo", device)) {
        gpu["memory_bytes"] = memory->total;
    }
    put(gpu, "l2_bytes", attribute(l2_cache_size));
    int ecc = 0;
    if (management.get<int>("nvmlDeviceGetEccMode", device, &ecc)) {
        gpu["ecc"] = ecc != 0;
    }
    put(gpu, "power_limit_w",
        management.get_times(1e-3, "nvmlDeviceGetEnforcedPowerLimit", device));
    auto const generation = management.get<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration", device);
    auto const lanes = management.get<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", device);
    if (generation.value_or(0) > 0 && lanes.value_or(0) > 0) {
        gpu["bus"] = {{"generation", *generation}, {"lanes", *lanes}}; // at its best, to the host
    }
    auto known = gpu;
    put(known, "max_clock_hz",
        management.get_times(1e6, "nvmlDeviceGetMaxClockInfo", device, clock_of_multiprocessors));
    put(known, "memory_bus_bits", attribute(global_memory_bus_width));
    known["max_memory_clock_hz"] = 1e3 * attribute(memory_clock_rate).value_or(0);
    if (auto const best = peaks(known); !best.empty()) {
        gpu["peaks"] = best;
    }
    return gpu;
}

Json throttle_reasons(unsigned long long bits)
{
    constexpr std::array<std::string_view, 9> names{"idle",
                                                    "application clocks",
                                                    "power cap",
                                                    "hardware slowdown",
                                                    "sync",
                                                    "thermal slowdown",
                                                    "hardware thermal slowdown",
                                                    "hardware power brake",
                                                    "display clocks"};
    auto reasons = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if ((bits >> i & 1) != 0) {
            reasons.push_back(names[i]);
        }
    }
    return reasons;
}

} // namespace

Json gpus()
{
    auto found = Json::array();
    Management const management;
    auto const devices = management.devices();
    if (devices.empty()) {
        return found;
    }
    Library const driver{"libcuda.so.1"};
    for (auto* const device : devices) {
        found.push_back(described(management, device, driver));
    }
    return found;
}

Json gpu_states()
{
    Management const management;
    Json states;
    for (auto* const device : management.devices()) {
        auto state = Json::object();
        auto const clock_hz = [&](int domain) {
            return management.get_times(1e6, "nvmlDeviceGetClockInfo", device, domain);
        };
        put(state, "clock_hz", clock_hz(clock_of_multiprocessors));
        put(state, "memory_clock_hz", clock_hz(clock_of_memory));
        put(state, "power_w", management.get_times(1e-3, "nvmlDeviceGetPowerUsage", device));
        put(state, "temperature_c",
            management.get<unsigned>("nvmlDeviceGetTemperature", device, sensor_of_the_chip));
        if (auto const bits = management.get<unsigned long long>(
                "nvmlDeviceGetCurrentClocksThrottleReasons", device)) {
            state["throttle_reasons"] = throttle_reasons(*bits);
        }
        states.push_back(std::move(state));
    }
    return states;
}

struct GpuWitness::Parts
{
    Management management = {};
    std::vector<GpuHandle> devices = management.devices();
};

GpuWitness::GpuWitness() : parts_{std::make_unique<Parts>()} {}
GpuWitness::~GpuWitness() = default;

GpuWitness::Counts GpuWitness::now() const
{
    constexpr std::array policies{0U, 1U}; // NVML_PERF_POLICY_POWER, NVML_PERF_POLICY_THERMAL
    Counts counts;
    for (auto* const device : parts_->devices) {
        for (auto const policy : policies) {
            if (auto const time = parts_->management.get<ViolationTime>(
                    "nvmlDeviceGetViolationStatus", device, policy)) {
                counts.throttled_ns += time->violated;
            }
        }
        // There is no room for their list, so that it only tells how many they are.
        unsigned processes = 0;
        parts_->management.call("nvmlDeviceGetComputeRunningProcesses_v3", device, &processes,
                                static_cast<void*>(nullptr));
        counts.others += processes > 1 ? processes - 1 : 0; // this one computes there too
    }
    return counts;
}

std::string gpu_driver_version()
{
    return Management{}.text("nvmlSystemGetDriverVersion");
}

} // namespace machine
