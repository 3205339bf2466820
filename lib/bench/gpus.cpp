#include "bench/gpus.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace {

using Json = nlohmann::ordered_json;
using Handle = void*; ///< an opaque pointer of the driver

/// A shared library of the driver. Its functions return 0 if they succeed.
class Library
{
public:
    explicit Library(char const* name) : handle_{dlopen(name, RTLD_NOW | RTLD_LOCAL)} {}

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
    struct Close
    {
        void operator()(void* handle) const { dlclose(handle); }
    };
    std::unique_ptr<void, Close> handle_;
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

    /// Every GPU of this machine.
    std::vector<Handle> devices() const
    {
        unsigned count = 0;
        std::vector<Handle> found;
        if (started_ && library_.call("nvmlDeviceGetCount_v2", &count)) {
            for (unsigned i = 0; i < count; ++i) {
                Handle device = nullptr;
                if (library_.call("nvmlDeviceGetHandleByIndex_v2", i, &device)) {
                    found.push_back(device);
                }
            }
        }
        return found;
    }

    std::string driver_version() const
    {
        std::array<char, 80> text{};
        library_.call("nvmlSystemGetDriverVersion", text.data(), unsigned{text.size()});
        return text.data();
    }

    std::string name(Handle device) const
    {
        std::array<char, 96> text{};
        library_.call("nvmlDeviceGetName", device, text.data(), unsigned{text.size()});
        return text.data();
    }

    std::string bus_address(Handle device) const
    {
        struct
        {
            char legacy_bus_id[16];
            unsigned domain, bus, device, device_id, subsystem_id;
            char bus_id[32];
        } pci{};
        library_.call("nvmlDeviceGetPciInfo_v3", device, static_cast<void*>(&pci));
        return pci.bus_id;
    }

    std::optional<unsigned long long> memory_bytes(Handle device) const
    {
        struct
        {
            unsigned long long total, free, used;
        } memory{};
        bool const known =
            library_.call("nvmlDeviceGetMemoryInfo", device, static_cast<void*>(&memory));
        return if_known(known, memory.total);
    }

    std::optional<bool> ecc(Handle device) const
    {
        int current = 0;
        int pending = 0;
        bool const known = library_.call("nvmlDeviceGetEccMode", device, &current, &pending);
        return if_known(known, current != 0);
    }

    std::optional<double> power_limit_w(Handle device) const
    {
        return in_thousands("nvmlDeviceGetEnforcedPowerLimit", device);
    }
    std::optional<double> power_w(Handle device) const
    {
        return in_thousands("nvmlDeviceGetPowerUsage", device);
    }

    std::optional<std::string> compute_capability(Handle device) const
    {
        int major = 0;
        int minor = 0;
        bool const known =
            library_.call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor);
        return if_known(known, fmt::format("{}.{}", major, minor));
    }

    enum class Domain
    {
        multiprocessors = 1,
        memory = 2,
    };
    std::optional<double> clock_hz(Handle device, Domain domain) const
    {
        unsigned megahertz = 0;
        bool const known =
            library_.call("nvmlDeviceGetClockInfo", device, static_cast<int>(domain), &megahertz);
        return if_known(known, 1e6 * megahertz);
    }

    std::optional<unsigned> temperature_c(Handle device) const
    {
        constexpr int sensor_of_the_chip = 0;
        unsigned celsius = 0;
        bool const known =
            library_.call("nvmlDeviceGetTemperature", device, sensor_of_the_chip, &celsius);
        return if_known(known, celsius);
    }

    /// Why the clocks are not higher; an empty list if nothing holds them back.
    std::optional<std::vector<std::string>> throttle_reasons(Handle device) const
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
        unsigned long long bits = 0;
        bool const known =
            library_.call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits);
        std::vector<std::string> reasons;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if ((bits >> i & 1) != 0) {
                reasons.emplace_back(names[i]);
            }
        }
        return if_known(known, reasons);
    }

private:
    template <class T>
    static std::optional<T> if_known(bool known, T value)
    {
        return known ? std::optional<T>{std::move(value)} : std::nullopt;
    }

    std::optional<double> in_thousands(char const* function, Handle device) const
    {
        unsigned value = 0;
        bool const known = library_.call(function, device, &value);
        return if_known(known, 1e-3 * value);
    }

    Library library_;
    bool started_;
};

/// Attributes of a GPU that the management library does not tell, from the compute driver.
class Compute
{
public:
    Compute() : library_{"libcuda.so.1"}, started_{library_.call("cuInit", 0U)} {}

    enum class Attribute
    {
        multiprocessors = 16,
        l2_bytes = 38,
    };
    std::optional<int> attribute(std::string const& bus_address, Attribute which) const
    {
        int device = 0;
        int value = 0;
        if (started_ && library_.call("cuDeviceGetByPCIBusId", &device, bus_address.c_str()) &&
            library_.call("cuDeviceGetAttribute", &value, static_cast<int>(which), device)) {
            return value;
        }
        return std::nullopt;
    }

private:
    Library library_;
    bool started_;
};

template <class T>
void put(Json& record, char const* key, std::optional<T> const& value)
{
    if (value) {
        record[key] = *value;
    }
}

} // namespace

Json gpu_records()
{
    Json records = Json::array();
    Management const management;
    auto const devices = management.devices();
    if (devices.empty()) {
        return records;
    }
    Compute const compute;
    for (auto* const device : devices) {
        auto const address = management.bus_address(device);
        Json record{{"name", management.name(device)}};
        put(record, "compute_capability", management.compute_capability(device));
        put(record, "multiprocessors",
            compute.attribute(address, Compute::Attribute::multiprocessors));
        put(record, "memory_bytes", management.memory_bytes(device));
        put(record, "l2_bytes", compute.attribute(address, Compute::Attribute::l2_bytes));
        put(record, "ecc", management.ecc(device));
        put(record, "power_limit_w", management.power_limit_w(device));
        records.push_back(std::move(record));
    }
    return records;
}

Json gpu_states()
{
    Json states = Json::array();
    Management const management;
    for (auto* const device : management.devices()) {
        Json state = Json::object();
        put(state, "clock_hz", management.clock_hz(device, Management::Domain::multiprocessors));
        put(state, "memory_clock_hz", management.clock_hz(device, Management::Domain::memory));
        put(state, "power_w", management.power_w(device));
        put(state, "temperature_c", management.temperature_c(device));
        put(state, "throttle_reasons", management.throttle_reasons(device));
        states.push_back(std::move(state));
    }
    return states;
}

std::string gpu_driver_version()
{
    return Management{}.driver_version();
}

} // namespace bench
