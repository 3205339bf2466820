#pragma once

#include "bench/experiment.hpp"
#include "bench/target.hpp"
#include "cuda/stream.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuda {

/// Time between two events around the work that a batch puts into `stream`, which must outlive the
/// clock. It includes the gaps in which the device waits for the next launch: for kernels of a few
/// microseconds use `GraphClock`.
class EventClock : public bench::Clock
{
public:
    explicit EventClock(Stream const& stream) : stream_{&stream} {}
    std::string name() const override { return "cuda-event"; }
    double seconds(std::function<void()> const& batch) override;

    /// The mark at which the last batch began.
    Event const& start() const { return start_; }

protected:
    Stream const* stream_;
    Event start_;
    Event stop_;
};

/// Time between two events inside a graph that a batch was captured as: the device knows all work
/// before it begins, so that no launch gap counts. A batch may not wait for the device, allocate or
/// copy pageable memory; setups may, which are timed without a graph.
class GraphClock : public EventClock
{
public:
    using EventClock::EventClock;
    std::string name() const override { return "cuda-graph"; }
    double seconds(std::function<void()> const& batch) override;
    double setup_seconds(std::function<void()> const& setup) override
    {
        return EventClock::seconds(setup);
    }
};

/// Wall time of the host from before a batch until the device has finished its work: what a caller
/// waits for, launches included.
class WallClock : public EventClock
{
public:
    using EventClock::EventClock;
    std::string name() const override { return "cuda-wall"; }
    double seconds(std::function<void()> const& batch) override;

private:
    bench::HostClock host_;
};

/// The current GPU as a target. It touches no device before its first use, and says in `missing()`
/// why there is none: no driver, no device, or a program built without nvcc, which then needs
/// neither header nor library of the toolkit (`absent.cpp`).
///
/// Variants put their work into `stream()`, or into the streams of `forked`. Calls with cold caches
/// are timed between two events, calls with warm caches in a graph, as they may take less time than
/// a launch.
class Gpu : public bench::Target
{
public:
    Gpu() = default;
    Gpu(Gpu const&) = delete;

    std::string name() const override { return "cuda"; }
    std::string missing() const override;
    bool depends_on_threads() const override { return false; }
    std::size_t cache_bytes() override { return memory().cache_bytes(); }
    void flush() override { memory().flush(); }
    bench::Clock& clock(bench::Cache cache) override { return memory().clock(cache); }
    void finish() override { memory().finish(); }
    void profile(bool begins) override { memory().profile(begins); }

    /// The device itself.
    bench::Target& memory() override;

    /// Where all its work is queued.
    Stream const& stream() { return queue().stream; }

    /// Clocks that a variant may ask for: between two events, in a graph, or of the host until all
    /// work is done.
    EventClock& events() { return queue().events; }
    bench::Clock& graph() { return queue().graph; }
    bench::Clock& wall() { return queue().wall; }

    /// Calls `issue` with so many streams that begin behind what is queued in `stream()`; what is
    /// queued there next waits for all of them. So one clock times work of several streams.
    void forked(std::size_t streams, std::function<void(std::span<Stream const>)> const& issue);

    /// Locks pages of the host's memory for as long as what is returned is kept, so that copies
    /// from and to them need no help of the processor. The same memory may be locked several times.
    std::shared_ptr<void const> pin(bench::ConstBytes host);

private:
    class Device;

    struct Queue ///< what a device has for those who measure
    {
        Stream stream;
        EventClock events{stream};
        GraphClock graph{stream};
        WallClock wall{stream};
    };

    Device& device();
    Queue& queue();

    mutable std::optional<std::string> missing_; ///< once it is known
    std::shared_ptr<Device> device_;
};

/// What work of several streams did when, for `bench::Variant::timeline`: the device takes the time
/// before and after each piece. Such a call is timed between events, and not in a graph.
class Timeline
{
public:
    explicit Timeline(Gpu& gpu);

    /// Forgets what was taken: begins a call.
    void begin() { taken_ = 0; }

    /// Takes the time of what `issue` puts into a stream, as `name` on a lane.
    void span(std::string lane, std::string name, Stream const& stream,
              std::function<void()> const& issue);

    /// What was taken since `begin`, in seconds since the timed call began.
    std::vector<bench::Span> spans() const;

private:
    struct Piece
    {
        std::string lane;
        std::string name;
        Event begin;
        Event end;
    };

    Event const* start_;       ///< of the timed call
    std::deque<Piece> pieces_; ///< their events are used again
    std::size_t taken_ = 0;
};

/// The studies of an experiment that need CUDA, in its `gpu.cpp`; none where that is not built.
void add_studies(bench::Experiment& experiment, Gpu& gpu);

} // namespace cuda
