// Plays NVML for tests: one GPU at 0000:00:06.0. The environment says how it behaves, and is asked
// at every call: FAKE_NVML_FAILS names a function that fails, FAKE_NVML_START is the counter's
// first number. The counter takes a step of so many millijoules at every so many calls.

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int success = 0;
constexpr int not_found = 6;
constexpr int unknown = 999;

unsigned long long calls = 0;

int outcome_of(char const* function)
{
    auto const* const fails = std::getenv("FAKE_NVML_FAILS");
    return fails != nullptr && std::strcmp(fails, function) == 0 ? unknown : success;
}

} // namespace

extern "C" {

int nvmlInit_v2()
{
    calls = 0;
    return outcome_of("nvmlInit_v2");
}

int nvmlShutdown()
{
    return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(char const* bus_id, void** device)
{
    *device = &calls;
    return std::strcmp(bus_id, "0000:00:06.0") == 0 ? success : not_found;
}

int nvmlDeviceGetClockInfo(void*, int domain, unsigned* mhz)
{
    *mhz = domain == 1 ? 1980 : 3201;
    return outcome_of("nvmlDeviceGetClockInfo");
}

int nvmlDeviceGetTemperature(void*, int, unsigned* celsius)
{
    *celsius = 42;
    return outcome_of("nvmlDeviceGetTemperature");
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits)
{
    auto const* const reasons = std::getenv("FAKE_NVML_REASONS");
    *bits = reasons != nullptr ? std::strtoull(reasons, nullptr, 0) : 0;
    return success;
}

#ifndef HAS_NO_ENERGY
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules)
{
    constexpr unsigned long long calls_of_a_step = 4;
    constexpr unsigned long long step = 250;
    auto const* const start = std::getenv("FAKE_NVML_START");
    auto const first = start != nullptr ? std::strtoull(start, nullptr, 0) : 0;
    *millijoules = first + calls++ / calls_of_a_step * step;
    return outcome_of("nvmlDeviceGetTotalEnergyConsumption");
}
#endif

} // extern "C"
