#pragma once

#include "bench/target.hpp"
#include "cuda/stream.hpp"

#include <string>

namespace cuda {

/// A clock of batches that put all their work into `stream`, which must outlive the clock.
class StreamClock : public bench::Clock
{
public:
    explicit StreamClock(Stream const& stream) : stream_{&stream} {}

    /// The mark at which the last batch began.
    Event const& start() const { return start_; }

protected:
    Stream const* stream_;
    Event start_;
    Event stop_;
};

/// Time between two events around the work that a batch puts into a stream. It includes the gaps
/// in which the device waits for the next launch: for kernels of a few microseconds use
/// `GraphClock`.
class EventClock : public StreamClock
{
public:
    using StreamClock::StreamClock;
    std::string name() const override { return "cuda-event"; }
    double seconds(std::function<void()> const& batch) override;
};

/// Time between two events inside a graph that a batch was captured as: the device knows all work
/// before it begins, so that no launch gap counts. A batch may not wait for the device, allocate or
/// copy pageable memory; setups may.
class GraphClock : public StreamClock
{
public:
    using StreamClock::StreamClock;
    std::string name() const override { return "cuda-graph"; }
    double seconds(std::function<void()> const& batch) override;
    double setup_seconds(std::function<void()> const& setup) override;
};

/// Wall time of the host from before a batch until the device has finished its work: what a caller
/// waits for, launches included.
class WallClock : public StreamClock
{
public:
    using StreamClock::StreamClock;
    std::string name() const override { return "cuda-wall"; }
    double seconds(std::function<void()> const& batch) override;

private:
    bench::HostClock host_;
};

} // namespace cuda
