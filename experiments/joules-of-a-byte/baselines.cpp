#include "studies.hpp"

#include "kernels.hpp"

#include "cuda/device.hpp"

namespace joules {

namespace {

bench::Expected ones(std::size_t count)
{
    return {std::vector<double>(count, 1.0), std::vector<double>(count, 0.0)};
}

} // namespace

void Meter::begin(bench::Trial const& trial)
{
    if (!counter_) {
        gpu_.stream(); // the current device is this one
        counter_ = energy::of_gpu(cuda::bus_id());
    }
    if (auto const why = counter_->missing(); !why.empty()) {
        throw bench::NotApplicable{why};
    }
    if (!clock_) {
        clock_ = std::make_unique<energy::GpuClock>(gpu_, *counter_);
    }
    clock_->lasts(trial.is_test() ? 0 : 1);
}

bench::Variant& Meter::operator()(bench::Variant& variant)
{
    energy::meter(variant, *clock_, *counter_);
    return variant;
}

void add_idle(bench::Trial& trial, Meter& meter)
{
    constexpr double seconds = 0.02;
    auto const setup = [&gpu = meter.gpu()](bench::Variant& variant) {
        auto const mark = variant.output<std::int32_t>(1);
        mark.expect([] { return ones(1); });
        return [&gpu, out = mark.on(gpu)] { joules::idle(seconds, out, gpu.stream()); };
    };
    meter(trial.add("idle", setup)).group("baseline");
}

void add_spin(bench::Trial& trial, Meter& meter)
{
    constexpr long long cycles = 1 << 21;
    auto const setup = [&gpu = meter.gpu()](bench::Variant& variant) {
        auto const marks = variant.output<std::int32_t>(grid_threads());
        marks.expect([] { return ones(grid_threads()); });
        return [&gpu, out = marks.on(gpu)] { joules::spin(cycles, out, gpu.stream()); };
    };
    meter(trial.add("spin", setup)).group("baseline");
}

} // namespace joules
