#include "cuda/gpu.hpp"

#include "cuda/buffer.hpp"
#include "cuda/cache_flush.hpp"
#include "cuda/clock.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace cuda {

struct Gpu::State
{
    Stream stream;
    std::optional<CacheFlush> flush; ///< made at the first
    EventClock events{stream};
    GraphClock graph{stream};
    WallClock wall{stream};
    std::vector<Stream> forks;
    Event begun;
    std::deque<Event> joined; ///< one for each fork
    std::map<std::byte const*, std::weak_ptr<void const>> pinned;
};

Gpu::Gpu() = default;
Gpu::~Gpu() = default;

std::string Gpu::missing() const
{
    if (!missing_) {
        missing_ = missing_device();
    }
    return *missing_;
}

Gpu::State& Gpu::state()
{
    if (!state_) {
        state_ = std::make_unique<State>();
    }
    return *state_;
}

std::size_t Gpu::cache_bytes()
{
    return l2_bytes();
}

void Gpu::flush()
{
    if (!state().flush) {
        state().flush.emplace(stream());
    }
    (*state().flush)();
}

bench::Clock& Gpu::clock(bench::Cache cache)
{
    return cache == bench::Cache::cold ? events() : graph();
}

std::shared_ptr<std::byte> Gpu::allocate(std::size_t bytes)
{
    stream(); // the device is in use
    return {static_cast<std::byte*>(cuda::allocate(std::max<std::size_t>(bytes, 1))), release};
}

void Gpu::upload(bench::Bytes to, bench::ConstBytes from)
{
    check(
        cudaMemcpyAsync(to.data(), from.data(), to.size(), cudaMemcpyHostToDevice, stream().get()));
}

void Gpu::fetch(bench::Bytes to, bench::ConstBytes from)
{
    check(
        cudaMemcpyAsync(to.data(), from.data(), to.size(), cudaMemcpyDeviceToHost, stream().get()));
}

void Gpu::poison(bench::Bytes bytes, unsigned char with)
{
    check(cudaMemsetAsync(bytes.data(), with, bytes.size(), stream().get()));
}

void Gpu::finish()
{
    stream().synchronize();
}

Stream const& Gpu::stream()
{
    return state().stream;
}

bench::Clock& Gpu::events()
{
    return state().events;
}
bench::Clock& Gpu::graph()
{
    return state().graph;
}
bench::Clock& Gpu::wall()
{
    return state().wall;
}

void Gpu::forked(std::size_t streams, std::function<void(std::span<Stream const>)> const& issue)
{
    auto& on = state();
    while (on.forks.size() < streams) {
        on.forks.emplace_back();
        on.joined.emplace_back();
    }
    std::span<Stream const> const forks{on.forks.data(), streams};
    on.begun.record(on.stream);
    for (auto const& fork : forks) {
        fork.wait_for(on.begun);
    }
    issue(forks);
    for (std::size_t i = 0; i < streams; ++i) {
        on.joined[i].record(forks[i]);
        on.stream.wait_for(on.joined[i]);
    }
}

std::shared_ptr<void const> Gpu::pin(bench::ConstBytes host)
{
    auto& known = state().pinned[host.data()];
    if (auto pages = known.lock(); pages || host.empty()) {
        return pages;
    }
    auto* const memory = const_cast<std::byte*>(host.data()); // nothing is written
    check(cudaHostRegister(memory, host.size(), cudaHostRegisterDefault));
    std::shared_ptr<void const> pages{
        memory, [memory](void const*) { static_cast<void>(cudaHostUnregister(memory)); }};
    known = pages;
    return pages;
}

struct Timeline::State
{
    struct Piece
    {
        std::string lane;
        std::string name;
        Event begin;
        Event end;
    };

    EventClock const* clock;
    std::deque<Piece> pieces; ///< their events are used again
    std::size_t taken = 0;
};

Timeline::Timeline(Gpu& gpu) : state_{new State{&gpu.state().events, {}}} {}
Timeline::~Timeline() = default;

void Timeline::begin()
{
    state_->taken = 0;
}

void Timeline::span(std::string lane, std::string name, Stream const& stream,
                    std::function<void()> const& issue)
{
    if (state_->taken == state_->pieces.size()) {
        state_->pieces.emplace_back();
    }
    auto& piece = state_->pieces[state_->taken++];
    piece.lane = std::move(lane);
    piece.name = std::move(name);
    piece.begin.record(stream);
    issue();
    piece.end.record(stream);
}

std::vector<bench::Span> Timeline::spans() const
{
    auto const& start = state_->clock->start();
    std::vector<bench::Span> spans;
    for (std::size_t i = 0; i < state_->taken; ++i) {
        auto const& piece = state_->pieces[i];
        spans.push_back({piece.lane, piece.name, piece.begin.seconds_since(start),
                         piece.end.seconds_since(start)});
    }
    return spans;
}

} // namespace cuda
