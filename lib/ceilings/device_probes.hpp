#pragma once

#include "ceilings/device_cores.hpp"
#include "ceilings/device_memory.hpp"
#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "cuda/event.hpp"
#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ceilings {

// What the current device can do, for `bench::Experiment::ceiling`: as the probes of `probes.hpp`,
// but each tells the seconds of a pass itself, between two events.

/// Times one call after the other in a stream of its own.
class DeviceTimer
{
public:
    cuda::Stream const& stream() const { return stream_; }

    /// Seconds of what `issue` puts into `stream()`.
    template <class Issue>
    double seconds(Issue issue)
    {
        start_.record(stream_);
        issue();
        stop_.record(stream_);
        stop_.synchronize();
        return stop_.seconds_since(start_);
    }

private:
    cuda::Stream stream_;
    cuda::Event start_;
    cuda::Event stop_;
};

/// Bytes of an array that no last-level cache of a device holds: at least four times as large.
inline std::size_t beyond_l2()
{
    return std::max(std::size_t{1} << 30, std::bit_ceil(4 * cuda::l2_bytes()));
}

/// Bytes of an array that fills at most two thirds of the last-level cache.
inline std::size_t within_l2()
{
    return std::bit_floor(std::max(std::size_t{4096}, cuda::l2_bytes() / 3 * 2));
}

/// Bandwidth of reading a table of some bytes, a power of two: `device_read`.
class TableRead
{
    static constexpr unsigned steps_ = 1024; ///< a pass is long beside the gap between its events
    DeviceTimer timer_;
    cuda::Buffer<double> table_;
    cuda::Buffer<double> sums_{device_blocks()};

public:
    std::string name;
    double bytes = device_blocks() * device_read_bytes(steps_);
    double flops = 0;

    TableRead(std::string what, std::size_t table_bytes)
        : table_{table_bytes / sizeof(double)}, name{std::move(what)}
    {
        cuda::check(cudaMemset(table_.data(), 0, table_.bytes()));
    }

    double seconds()
    {
        return timer_.seconds(
            [&] { device_read<double>(table_.span(), steps_, sums_.span(), timer_.stream()); });
    }
};

/// Bandwidth of reading the memory of the device: "device_read".
struct DeviceRead : TableRead
{
    DeviceRead() : TableRead{"device_read", beyond_l2()} {}
};

/// Bandwidth of reading what lies in the last-level cache of the device: "device_l2".
struct DeviceL2 : TableRead
{
    DeviceL2() : TableRead{"device_l2", within_l2()} {}
};

/// Bandwidth of copying in the memory of the device, one byte read for each byte written.
class DeviceCopy
{
    DeviceTimer timer_;
    cuda::Buffer<double> a_;
    cuda::Buffer<double> b_{a_.size()};

public:
    std::string name = "device_copy";
    double bytes = 2.0 * static_cast<double>(a_.bytes());
    double flops = 0;

    /// Of an array of `array_bytes`.
    explicit DeviceCopy(std::size_t array_bytes = beyond_l2()) : a_{array_bytes / sizeof(double)}
    {
        cuda::check(cudaMemset(a_.data(), 0, a_.bytes()));
    }

    double seconds()
    {
        return timer_.seconds([&] { device_copy<double>(a_.span(), b_.span(), timer_.stream()); });
    }
};

/// Rate of fused multiply-adds in registers: "device_fma_fp32" or "device_fma_fp64".
template <class T>
class DeviceFma
{
    DeviceTimer timer_;
    cuda::Buffer<T> start_{std::vector<T>(device_chains)};
    cuda::Buffer<T> sums_{std::size_t{device_blocks()} * device_threads};

public:
    std::string name = std::is_same_v<T, float> ? "device_fma_fp32" : "device_fma_fp64";
    double bytes = 0;
    double flops = device_fma_flops * static_cast<double>(sums_.size());

    double seconds()
    {
        return timer_.seconds(
            [&] { device_fma<T>(start_.span(), T{1}, T{1}, sums_.span(), timer_.stream()); });
    }
};

/// Bandwidth of the bus from pinned memory to the device, or back: "bus_to_device", "bus_to_host".
class Bus
{
    static constexpr std::size_t size_ = std::size_t{64} << 20;
    cudaMemcpyKind direction_;
    DeviceTimer timer_;
    cuda::Pinned<std::byte> host_{size_};
    cuda::Buffer<std::byte> device_{size_};

public:
    std::string name;
    double bytes = static_cast<double>(size_);
    double flops = 0;

    explicit Bus(cudaMemcpyKind direction)
        : direction_{direction}, name{direction == cudaMemcpyHostToDevice ? "bus_to_device"
                                                                          : "bus_to_host"}
    {
        std::ranges::fill(host_.span(), std::byte{0});
        cuda::check(cudaMemset(device_.data(), 0, device_.bytes()));
    }

    double seconds()
    {
        void* to = device_.data();
        void* from = host_.span().data();
        if (direction_ == cudaMemcpyDeviceToHost) {
            std::swap(to, from);
        }
        return timer_.seconds([&] {
            cuda::check(cudaMemcpyAsync(to, from, size_, direction_, timer_.stream().get()));
        });
    }
};

} // namespace ceilings
