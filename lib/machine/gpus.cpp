#include "machine/system.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>

namespace machine {

namespace {

using Json = nlohmann::ordered_json;
using Handle = void*; ///< an opaque pointer of the driver

/// A shared library of the driver. Its functions return 0 if they succeed.
class Library
{
public:
    explicit Library(char const* name) : handle_{dlopen(name, RTLD_NOW | RTLD_LOCAL), dlclose} {}

    /// Calls a function by its name; false if it is not there or fails. The arguments must have
    /// exactly the types that it expects.
    template <class... Arguments>
    bool call(char const* name, Arguments... arguments) const
    {
        auto* const symbol = handle_ ? dlsym(handle_.get(), name) : nullptr;
        return symbol != nullptr &&
               reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...) == 0;
    }

private:
    std::unique_ptr<void, int (*)(void*)> handle_;
};

/// The management library (NVML), started for the life of an object. The layouts and numbers below
/// are those of its documented interface.
class Management
{
public:
    Management() : library_{"libnvidia-ml.so.1"}, started_{library_.call("nvmlInit_v2")} {}
    ~Management()
    {
        if (started_) {
            library_.call("nvmlShutdown");
        }
    }
    Management(Management const&) = delete;
    Management& operator=(Management const&) = delete;

    template <class... Arguments>
    bool call(char const* function, Arguments... arguments) const
    {
        return library_.call(function, arguments...);
    }

    /// What a function writes to its last argument.
    template <class T, class... Arguments>
    std::optional<T> get(char const* function, Arguments... arguments) const
    {
        T value{};
        bool const known = library_.call(function, arguments..., &value);
        return known ? std::optional{value} : std::nullopt;
    }

    /// The same of a number of some unit.
    template <class... Arguments>
    std::optional<double> get_times(double unit, char const* function, Arguments... arguments) const
    {
        auto const value = get<unsigned>(function, arguments...);
        return value ? std::optional{unit * *value} : std::nullopt;
    }

    /// A text; empty if it is unknown.
    template <class... Arguments>
    std::string text(char const* function, Arguments... arguments) const
    {
        std::array<char, 96> buffer{};
        library_.call(function, arguments..., buffer.data(), unsigned{buffer.size()});
        return buffer.data();
    }

    /// Every GPU of this machine.
    std::vector<Handle> devices() const
    {
        std::vector<Handle> found;
        auto const count = get<unsigned>("nvmlDeviceGetCount_v2").value_or(0);
        for (unsigned i = 0; i < count; ++i) {
            if (auto const device = get<Handle>("nvmlDeviceGetHandleByIndex_v2", i)) {
                found.push_back(*device);
            }
        }
        return found;
    }

private:
    Library library_;
    bool started_;
};

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

constexpr int of_multiprocessors = 1; ///< domains of clocks
constexpr int of_memory = 2;
constexpr int of_the_chip = 0; ///< sensor of temperature

template <class T>
void put(Json& record, char const* key, std::optional<T> const& value)
{
    if (value) {
        record[key] = *value;
    }
}

/// What the management library tells, and beside that the compute driver.
Json described(Management const& management, Handle device, Library const& driver)
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
        management.get_times(1e6, "nvmlDeviceGetMaxClockInfo", device, of_multiprocessors));
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
        put(state, "clock_hz", clock_hz(of_multiprocessors));
        put(state, "memory_clock_hz", clock_hz(of_memory));
        put(state, "power_w", management.get_times(1e-3, "nvmlDeviceGetPowerUsage", device));
        put(state, "temperature_c",
            management.get<unsigned>("nvmlDeviceGetTemperature", device, of_the_chip));
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
    std::vector<Handle> devices = management.devices();
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
