#pragma once

#include <functional>
#include <string>

namespace bench {

/// Measures how long a batch of work takes. Adapters in `lib/cuda` and `lib/mpi` add devices and
/// ranks.
class Clock
{
public:
    virtual ~Clock() = default;

    /// Name stored with every sample: "host", "cuda-event", "max-over-ranks(host)", ...
    virtual std::string name() const = 0;

    /// Makes ready who will work on the next batch; comes last before a sample.
    virtual void wake() {}

    /// Seconds from the start of `batch` until all its work has finished.
    virtual double seconds(std::function<void()> const& batch) = 0;

    /// As `seconds`, of what a variant prepares once, which may do more than a timed batch: work on
    /// the host, allocate, wait.
    virtual double setup_seconds(std::function<void()> const& setup) { return seconds(setup); }
};

/// Wall time of the calling thread: `std::chrono::steady_clock`.
class HostClock : public Clock
{
public:
    std::string name() const override { return "host"; }

    /// Wakes OpenMP's threads, which slept while caches were emptied, and waits until all of them
    /// come at once. Without that, of 32 threads' products every fourth or fifth took some 6 ms,
    /// ten times the others. Gives up after 20 ms.
    void wake() override;

    double seconds(std::function<void()> const& batch) override;
};

} // namespace bench
