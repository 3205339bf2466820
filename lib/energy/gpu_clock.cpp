#include "energy/gpu_clock.hpp"

#include "cuda/graph.hpp"
#include "cuda/stream.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <thread>

namespace energy {

namespace {

/// So long does a piece of the queue last: longer than NVML takes to answer, which is milliseconds.
constexpr double piece_s = 0.02;

} // namespace

double GpuClock::repeated(std::function<void()> const& batch,
                          std::function<bool()> const& is_enough)
{
    auto const& stream = gpu_->stream();
    cuda::Graph const graph{stream, batch};
    cuda::Event begun;
    cuda::Event ended;
    std::size_t replays = 0;
    auto const replay = [&](std::size_t times) {
        for (std::size_t i = 0; i < times; ++i) {
            graph.replay(stream);
        }
        replays += times;
    };
    begun.record(stream);
    replay(1);
    ended.record(stream);
    ended.synchronize();
    auto const alone = std::max(ended.seconds_since(begun), 1e-7);
    auto const piece = static_cast<std::size_t>(std::ceil(piece_s / alone));

    replays = 0;
    begun.record(stream);
    std::array<cuda::Event, 2> ends;
    replay(piece);
    ends[0].record(stream);
    for (std::size_t at = 1; !is_enough(); at = 1 - at) {
        replay(piece);
        ends[at].record(stream);
        while (!ends[1 - at].is_reached() && !is_enough()) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    ended.record(stream);
    ended.synchronize();
    return ended.seconds_since(begun) / static_cast<double>(replays);
}

void meter(bench::Variant& variant, GpuClock& clock, GpuCounter const& counter)
{
    meter(variant, clock);
    auto const note = [&](std::string const& name, double GpuState::*member, double unit) {
        if (std::isfinite(counter.state().*member)) {
            variant.count(name,
                          [&counter, member, unit] { return counter.state().*member * unit; });
        }
    };
    note("clock_mhz", &GpuState::clock_hz, 1e-6);
    note("temperature_c", &GpuState::temperature_c, 1);
    note("held_back", &GpuState::held_back, 1);
}

} // namespace energy
