#pragma once

#include "cuda/gpu.hpp"
#include "cuda/pinned.hpp"

#include <functional>
#include <string>

namespace transfer {

/// Time between two events around a batch that waits in the stream until all of it is queued: a
/// kernel holds the stream, and the host lets it go. The method of nvbandwidth, NVIDIA's program
/// that measures copies. A batch may not wait for the device, nor copy pageable memory, nor hold
/// more pieces of work than the stream's queue takes (some hundred). Work that it left in other
/// streams is not timed, but done when this returns.
class HeldClock : public cuda::EventClock
{
public:
    using EventClock::EventClock;
    std::string name() const override { return "cuda-event-held"; }
    double seconds(std::function<void()> const& batch) override;

    /// Setups may wait for the device: they are timed without being held.
    double setup_seconds(std::function<void()> const& setup) override;

private:
    cuda::Pinned<int> released_{1, cudaHostAllocMapped};
};

} // namespace transfer
