#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace energy {

/// Counts the joules that a device takes. Its number changes in steps: many times a second, and not
/// whenever it is read.
class Counter
{
public:
    virtual ~Counter() = default;

    /// In records: "nvml", "powercap".
    virtual std::string name() const = 0;

    /// Why it cannot be read here, in one line that says what would make it readable; empty if it
    /// can. Only then may the joules be asked for.
    virtual std::string missing() const = 0;

    /// Joules since the first time that it was asked. It must be asked before the counter can come
    /// round twice. Throws std::runtime_error with one line if it cannot be read any more.
    virtual double joules() = 0;
};

/// Adds up a whole number that grows and begins again at 0 behind its largest value.
class Total
{
public:
    /// Of a number from 0 to `largest`, of which no two readings lie further apart than `most`:
    /// what seems to have grown by more has gone back.
    Total(std::uint64_t largest, std::uint64_t most) : largest_{largest}, most_{most} {}

    /// How much it has grown since the first reading. Throws std::runtime_error where it went back.
    std::uint64_t operator()(std::uint64_t reading);

private:
    std::uint64_t largest_;
    std::uint64_t most_;
    std::optional<std::uint64_t> last_;
    std::uint64_t grown_ = 0;
};

/// What a GPU is like while it is measured; what the driver does not tell is NaN.
struct GpuState
{
    double clock_hz;        ///< of its multiprocessors
    double memory_clock_hz; ///< of its memory
    double temperature_c;   ///< of the chip
    double held_back;       ///< 1 if heat or a limit of power holds its clocks back, else 0
};

/// The energy counter of a GPU and all that is on its board, and the GPU's state.
class GpuCounter : public Counter
{
public:
    virtual GpuState state() const = 0;
};

/// The counter of NVML, in millijoules, which GPUs have since Volta: of the GPU at a place on the
/// PCI bus ("0000:00:06.0"), read from a shared library that is opened now. The default is what
/// `machine::management_library()` says.
std::unique_ptr<GpuCounter> of_gpu(std::string const& bus_id);
std::unique_ptr<GpuCounter> of_gpu(std::string const& bus_id, std::string const& library);

/// The folder where Linux tells of the energy that processors take (docs.kernel.org,
/// power/powercap).
inline constexpr char const* powercap_folder = "/sys/class/powercap";

/// The counters of the processors' packages and of the memory at them, added up, in microjoules:
/// the zones `package-*` and `dram` of `intel-rapl:*` under a folder.
std::unique_ptr<Counter> of_host(std::filesystem::path const& folder = powercap_folder);

} // namespace energy
