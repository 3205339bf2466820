#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace machine {

/// A shared library that is opened when it is asked for, so that nothing needs it, neither when it
/// is built nor when it starts. Its functions return 0 if they succeed.
class Library
{
public:
    explicit Library(char const* name) : handle_{dlopen(name, RTLD_NOW | RTLD_LOCAL), dlclose} {}

    bool is_open() const { return handle_ != nullptr; }
    bool has(char const* function) const { return symbol(function) != nullptr; }

    /// Calls a function by its name; false if it is not there or fails. The arguments must have
    /// exactly the types that it expects.
    template <class... Arguments>
    bool call(char const* function, Arguments... arguments) const
    {
        auto* const found = symbol(function);
        return found != nullptr &&
               reinterpret_cast<int (*)(Arguments...)>(found)(arguments...) == 0;
    }

private:
    void* symbol(char const* function) const
    {
        return handle_ ? dlsym(handle_.get(), function) : nullptr;
    }

    std::unique_ptr<void, int (*)(void*)> handle_;
};

/// A GPU of the management library: an opaque pointer.
using GpuHandle = void*;

/// The file of the management library: what the environment variable MEMWALL_NVML names (tests have
/// a library of their own), else the one that comes with NVIDIA's driver.
inline std::string management_library()
{
    auto const* const named = std::getenv("MEMWALL_NVML");
    return named != nullptr ? named : "libnvidia-ml.so.1";
}

/// NVIDIA's management library (NVML), started for the life of an object; names and layouts are
/// those of its documented interface (docs.nvidia.com/deploy/nvml-api).
class Management
{
public:
    Management() : Management{management_library()} {}
    explicit Management(std::string const& library)
        : library_{library.c_str()}, started_{library_.call("nvmlInit_v2")}
    {
    }
    ~Management()
    {
        if (started_) {
            library_.call("nvmlShutdown");
        }
    }
    Management(Management const&) = delete;
    Management& operator=(Management const&) = delete;

    Library const& library() const { return library_; }
    bool has_started() const { return started_; }

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
    std::vector<GpuHandle> devices() const
    {
        std::vector<GpuHandle> found;
        auto const count = get<unsigned>("nvmlDeviceGetCount_v2").value_or(0);
        for (unsigned i = 0; i < count; ++i) {
            if (auto const device = get<GpuHandle>("nvmlDeviceGetHandleByIndex_v2", i)) {
                found.push_back(*device);
            }
        }
        return found;
    }

private:
    Library library_;
    bool started_;
};

inline constexpr int clock_of_multiprocessors = 1; ///< NVML_CLOCK_SM
inline constexpr int clock_of_memory = 2;          ///< NVML_CLOCK_MEM
inline constexpr int sensor_of_the_chip = 0;       ///< NVML_TEMPERATURE_GPU

} // namespace machine
