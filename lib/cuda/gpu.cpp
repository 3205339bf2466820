#include "cuda/gpu.hpp"

#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/pinned.hpp"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace cuda {

double EventClock::seconds(std::function<void()> const& batch)
{
    start_.record(*stream_);
    batch();
    stop_.record(*stream_);
    stop_.synchronize();
    return stop_.seconds_since(start_);
}

double GraphClock::seconds(std::function<void()> const& batch)
{
    Graph const graph{*stream_, [&] {
                          start_.record_in_graph(*stream_);
                          batch();
                          stop_.record_in_graph(*stream_);
                      }};
    graph.replay(*stream_);
    stream_->synchronize();
    return stop_.seconds_since(start_);
}

double WallClock::seconds(std::function<void()> const& batch)
{
    stream_->synchronize();
    return host_.seconds([&] {
        batch();
        stream_->synchronize();
    });
}

/// The device, from its first use on.
class Gpu::Device : public bench::Target, public Gpu::Queue
{
public:
    std::string name() const override { return "cuda"; }
    std::size_t cache_bytes() override { return l2_bytes(); }

    void flush() override
    {
        if (!flush_) {
            flush_ = cache_flush(stream);
        }
        flush_();
    }

    bench::Clock& clock(bench::Cache cache) override
    {
        return cache == bench::Cache::cold ? static_cast<bench::Clock&>(events) : graph;
    }

    std::shared_ptr<std::byte> allocate(std::size_t bytes) override
    {
        return {static_cast<std::byte*>(cuda::allocate(std::max<std::size_t>(bytes, 1))), release};
    }

    void upload(bench::Bytes to, bench::ConstBytes from) override
    {
        copy(to, from, cudaMemcpyHostToDevice);
    }
    void fetch(bench::Bytes to, bench::ConstBytes from) override
    {
        copy(to, from, cudaMemcpyDeviceToHost);
    }

    void poison(bench::Bytes bytes, unsigned char with) override
    {
        check(cudaMemsetAsync(bytes.data(), with, bytes.size(), stream.get()));
    }

    void finish() override { stream.synchronize(); }

    /// `ncu --profile-from-start off` looks only at what is launched between the two.
    void profile(bool begins) override { check(begins ? cudaProfilerStart() : cudaProfilerStop()); }

    std::vector<Stream> forks;
    Event begun;
    std::deque<Event> joined; ///< one for each fork
    std::map<std::byte const*, std::weak_ptr<void const>> pinned;

private:
    std::function<void()> flush_; ///< made at the first

    void copy(bench::Bytes to, bench::ConstBytes from, cudaMemcpyKind direction)
    {
        check(cudaMemcpyAsync(to.data(), from.data(), to.size(), direction, stream.get()));
    }
};

std::string Gpu::missing() const
{
    if (!missing_) {
        missing_ = missing_device();
    }
    return *missing_;
}

Gpu::Device& Gpu::device()
{
    if (!device_) {
        device_ = std::make_shared<Device>();
    }
    return *device_;
}

bench::Target& Gpu::memory()
{
    return device();
}

Gpu::Queue& Gpu::queue()
{
    return device();
}

void Gpu::forked(std::size_t streams, std::function<void(std::span<Stream const>)> const& issue)
{
    auto& on = device();
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
    auto& known = device().pinned[host.data()];
    if (auto pages = known.lock(); pages || host.empty()) {
        return pages;
    }
    std::shared_ptr<void const> const pages = std::make_shared<Registered>(host);
    known = pages;
    return pages;
}

Timeline::Timeline(Gpu& gpu) : start_{&gpu.events().start()} {}

void Timeline::span(std::string lane, std::string name, Stream const& stream,
                    std::function<void()> const& issue)
{
    if (taken_ == pieces_.size()) {
        pieces_.emplace_back();
    }
    auto& piece = pieces_[taken_++];
    piece.lane = std::move(lane);
    piece.name = std::move(name);
    piece.begin.record(stream);
    issue();
    piece.end.record(stream);
}

std::vector<bench::Span> Timeline::spans() const
{
    std::vector<bench::Span> spans;
    for (std::size_t i = 0; i < taken_; ++i) {
        auto const& piece = pieces_[i];
        spans.push_back({piece.lane, piece.name, piece.begin.seconds_since(*start_),
                         piece.end.seconds_since(*start_)});
    }
    return spans;
}

} // namespace cuda
