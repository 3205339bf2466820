#pragma once

#include "bench/target.hpp"
#include "bench/variant.hpp"
#include "energy/steps.hpp"

#include <functional>
#include <string>

namespace energy {

/// A clock of the harness that also tells the joules of a sample. A sample, which `wake` announces,
/// repeats its batch until the steps of a counter span the time that `lasts` says; what else the
/// harness times it times once. Energy is that between steps while nothing but the batch ran.
class MeteringClock : public bench::Clock
{
public:
    /// The counter must not be missing, and outlive the clock.
    explicit MeteringClock(Counter& counter) : counter_{&counter} {}

    /// From now on samples last at least so long, and at least one step.
    void lasts(double seconds) { least_s_ = seconds; }

    void wake() override { is_sample_ = true; }
    double seconds(std::function<void()> const& batch) final;

    /// Of the last sample: joules of a batch, and how long the counter's steps were in the mean.
    double joules() const { return joules_; }
    double step_s() const { return step_s_; }

protected:
    /// Seconds of a batch by itself.
    virtual double once(std::function<void()> const& batch) = 0;

    /// Runs a batch again and again until `is_enough()`, which is asked every few milliseconds and
    /// reads the counter; seconds of a batch.
    virtual double repeated(std::function<void()> const& batch,
                            std::function<bool()> const& is_enough) = 0;

private:
    Counter* counter_;
    double least_s_ = 1;
    bool is_sample_ = false;
    double joules_ = 0;
    double step_s_ = 0;
};

/// As above for work of the host.
class HostEnergyClock : public MeteringClock
{
public:
    using MeteringClock::MeteringClock;
    std::string name() const override { return "host-energy"; }

    void wake() override
    {
        host_.wake();
        MeteringClock::wake();
    }

protected:
    double once(std::function<void()> const& batch) override { return host_.seconds(batch); }
    double repeated(std::function<void()> const& batch,
                    std::function<bool()> const& is_enough) override;

private:
    bench::HostClock host_;
};

/// Times a variant with such a clock, which must outlive its trial, and records with each sample
/// the `joules` of a call and the mean `step_ms` of the counter.
void meter(bench::Variant& variant, MeteringClock& clock);

} // namespace energy
