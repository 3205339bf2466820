#pragma once

#include "cuda/gpu.hpp"
#include "energy/clocks.hpp"

namespace energy {

/// A metering clock for work that a GPU has in its queue: a batch becomes a graph, and there is
/// always another one behind the one that runs, so that the device never waits.
class GpuClock : public MeteringClock
{
public:
    GpuClock(cuda::Gpu& gpu, GpuCounter& counter) : MeteringClock{counter}, gpu_{&gpu} {}
    std::string name() const override { return "cuda-graph-energy"; }
    double setup_seconds(std::function<void()> const& setup) override
    {
        return gpu_->graph().setup_seconds(setup);
    }

protected:
    double once(std::function<void()> const& batch) override
    {
        return gpu_->graph().seconds(batch);
    }
    double repeated(std::function<void()> const& batch,
                    std::function<bool()> const& is_enough) override;

private:
    cuda::Gpu* gpu_;
};

/// As `meter`, and with each sample the GPU's `clock_mhz`, `temperature_c`, and whether it is
/// `held_back`, as far as the driver tells.
void meter(bench::Variant& variant, GpuClock& clock, GpuCounter const& counter);

} // namespace energy
