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
    Gpu();
    ~Gpu() override;

    std::string name() const override { return "cuda"; }
    std::string missing() const override;
    bool depends_on_threads() const override { return false; }
    std::size_t cache_bytes() override { return memory().cache_bytes(); }
    void flush() override { memory().flush(); }
    bench::Clock& clock(bench::Cache cache) override { return memory().clock(cache); }
    void finish() override { memory().finish(); }
    void profile(bool begins) override;

    /// The device itself.
    bench::Target& memory() override;

    /// Where all its work is queued.
    Stream const& stream();

    /// Clocks that a variant may ask for: between two events, in a graph, or of the host until all
    /// work is done.
    bench::Clock& events();
    bench::Clock& graph();
    bench::Clock& wall();

    /// Calls `issue` with so many streams that begin behind what is queued in `stream()`; what is
    /// queued there next waits for all of them. So one clock times work of several streams.
    void forked(std::size_t streams, std::function<void(std::span<Stream const>)> const& issue);

    /// Locks pages of the host's memory for as long as what is returned is kept, so that copies
    /// from and to them need no help of the processor. The same memory may be locked several times.
    std::shared_ptr<void const> pin(bench::ConstBytes host);

private:
    friend class Timeline;
    class Device;

    Device& device();

    mutable std::optional<std::string> missing_; ///< once it is known
    std::unique_ptr<Device> device_;
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
