#include "energy/counter.hpp"

#include "machine/management.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace energy {

namespace {

using machine::GpuHandle;
using machine::Management;

constexpr char const* energy_function = "nvmlDeviceGetTotalEnergyConsumption";

/// A board takes a thousand watts, not a million joules between two readings.
constexpr std::uint64_t most_millijoules = 1'000'000'000;

/// Reasons that NVML gives for a low clock: a cap on power, slowdowns by hardware, and heat. Being
/// idle and clocks that somebody chose are none.
constexpr unsigned long long held_back_bits = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

class Nvml : public GpuCounter
{
public:
    Nvml(std::string const& bus_id, std::string const& library)
        : management_{library}, device_{management_.get<GpuHandle>(
                                    "nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str())},
          missing_{why_missing(bus_id, library)}
    {
    }

    std::string name() const override { return "nvml"; }
    std::string missing() const override { return missing_; }

    double joules() override
    {
        auto const reading = read();
        if (!reading) {
            throw std::runtime_error{
                fmt::format("{} failed, which has worked before", energy_function)};
        }
        return 1e-3 * static_cast<double>(total_(*reading));
    }

    GpuState state() const override
    {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        auto const clock = [&](int domain) {
            return management_.get_times(1e6, "nvmlDeviceGetClockInfo", *device_, domain)
                .value_or(unknown);
        };
        auto const bits = management_.get<unsigned long long>(
            "nvmlDeviceGetCurrentClocksThrottleReasons", *device_);
        return {.clock_hz = clock(machine::clock_of_multiprocessors),
                .memory_clock_hz = clock(machine::clock_of_memory),
                .temperature_c = management_
                                     .get_times(1, "nvmlDeviceGetTemperature", *device_,
                                                machine::sensor_of_the_chip)
                                     .value_or(unknown),
                .held_back = bits ? static_cast<double>((*bits & held_back_bits) != 0) : unknown};
    }

private:
    std::optional<unsigned long long> read() const
    {
        return management_.get<unsigned long long>(energy_function, *device_);
    }

    std::string why_missing(std::string const& bus_id, std::string const& library) const
    {
        if (!management_.library().is_open()) {
            return fmt::format("no energy counter: found no {}, which comes with NVIDIA's driver",
                               library);
        }
        if (!management_.has_started()) {
            return fmt::format("no energy counter: {} does not start, which needs a driver of its "
                               "own version that is loaded",
                               library);
        }
        if (!device_) {
            return fmt::format("no energy counter: {} knows no GPU {}, which must be visible where "
                               "this runs",
                               library, bus_id);
        }
        if (!management_.library().has(energy_function)) {
            return fmt::format("no energy counter: {} has no {}, which newer drivers have", library,
                               energy_function);
        }
        return read() ? ""
                      : fmt::format("no energy counter: {} tells none of this GPU; GPUs since "
                                    "Volta have one, if they are not virtual",
                                    library);
    }

    Management management_;
    std::optional<GpuHandle> device_;
    std::string missing_;
    Total total_{std::numeric_limits<std::uint64_t>::max(), most_millijoules};
};

} // namespace

std::unique_ptr<GpuCounter> of_gpu(std::string const& bus_id)
{
    return of_gpu(bus_id, machine::management_library());
}

std::unique_ptr<GpuCounter> of_gpu(std::string const& bus_id, std::string const& library)
{
    return std::make_unique<Nvml>(bus_id, library);
}

} // namespace energy
