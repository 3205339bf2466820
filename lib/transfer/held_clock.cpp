#include "transfer/held_clock.hpp"

#include "transfer/kernels.hpp"

#include <cuda_runtime_api.h>

namespace transfer {

double HeldClock::seconds(std::function<void()> const& batch)
{
    int volatile& released = released_.span().front();
    released = 0;
    hold(released_.on_device(), stream_->get());
    try {
        start_.record(*stream_);
        batch();
        stop_.record(*stream_);
    } catch (...) {
        released = 1;
        throw;
    }
    released = 1;
    cuda::check(cudaDeviceSynchronize()); // also what else is under way
    return stop_.seconds_since(start_);
}

double HeldClock::setup_seconds(std::function<void()> const& setup)
{
    return cuda::EventClock::seconds(setup);
}

} // namespace transfer
