#include "host.hpp"

#include "ceilings/array.hpp"
#include "ceilings/fma.hpp"
#include "ceilings/memory.hpp"
#include "ceilings/reference.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace joules {

namespace {

//! [host_idle]
/// The processors with nothing to do.
void rest()
{
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
}
//! [host_idle]

void add_host_idle(bench::Trial& trial, HostMeter& meter)
{
    auto const setup = [](bench::Variant& variant) {
        auto const mark = variant.output<std::int32_t>(1);
        mark.expect([] { return bench::Expected{{1}, {0}}; });
        return [out = mark.on()] {
            rest();
            out[0] = 1;
        };
    };
    meter(trial.add("host_idle", setup)).group("baseline");
}

/// Two arrays, each part touched first by the thread that reads it.
struct Arrays
{
    ceilings::Array<double> b;
    ceilings::Array<double> c;

    Arrays(bench::Trial& trial, std::size_t count)
        : b{count, trial.threads()}, c{count, trial.threads()}
    {
        trial.input(b.span());
        trial.input(c.span());
    }
};

} // namespace

void HostMeter::begin(bench::Trial const& trial)
{
    if (!counter_) {
        counter_ = energy::of_host();
    }
    if (auto const why = counter_->missing(); !why.empty()) {
        throw bench::NotApplicable{why};
    }
    if (!clock_) {
        clock_ = std::make_unique<energy::HostEnergyClock>(*counter_);
    }
    clock_->lasts(trial.is_test() ? 0 : 1);
}

bench::Variant& HostMeter::operator()(bench::Variant& variant)
{
    energy::meter(variant, *clock_);
    return variant;
}

void host_levels(bench::Trial& trial, HostMeter& meter)
{
    meter.begin(trial);
    std::size_t const few = std::size_t{trial.is_test() ? 1U : 8U} << 12; // of each thread
    auto const threads = static_cast<std::size_t>(trial.threads());
    auto const passes =
        trial.is_test() ? std::size_t{8}
                        : 4 * bench::host().cache_bytes() / (few * threads * sizeof(double)) + 1;
    Arrays near{trial, few * threads};
    Arrays far{trial, few * threads * passes};
    trial.cache(bench::Cache::warm);
    trial.work({.bytes = 2.0 * static_cast<double>(far.b.span().size_bytes())});
    auto const add = [&](std::string const& name, Arrays const& on, std::size_t times) {
        auto const setup = [&, times, count = trial.threads()](bench::Variant& variant) {
            auto const sum = variant.output<double>(1);
            sum.expect([&] { return ceilings::dot_reference<double>(on.b, on.c); });
            return [&, times, count, out = sum.on()] {
                for (std::size_t i = 0; i < times; ++i) {
                    out[0] = ceilings::read_simd<double>(on.b, on.c, count);
                }
            };
        };
        meter(trial.add(name, setup)).group("read").excerpt("read_simd");
    };
    add("host_memory_read", far, 1);
    add("host_cache_read", near, passes);
    add_host_idle(trial, meter);
    trial.run();
}

template <class T>
void host_operations(bench::Trial& trial, HostMeter& meter)
{
    meter.begin(trial);
    int const threads = trial.threads();
    auto const start = trial.input<T>(ceilings::fma_elements<T>).on();
    auto const factors = trial.input<T>(2).on();
    trial.cache(bench::Cache::warm);
    trial.work(
        {.flops = ceilings::fma_flops<T>(threads), .operations = ceilings::fma_flops<T>(threads)});
    auto const output = trial.output<T>(start.size() * static_cast<std::size_t>(threads));
    output.expect(
        [=] { return ceilings::fma_reference<T>(start, factors[0], factors[1], threads); });
    for (auto const& variant : ceilings::fma_variants<T>()) {
        auto const call = [=, sum = output.on(), kernel = variant.kernel] {
            ceilings::run_fma<T>(kernel, start, factors[0], factors[1], sum, threads);
        };
        meter(trial.add(variant, call)).group("units").excerpt("fma_chains");
    }
    add_host_idle(trial, meter);
    trial.run();
}
template void host_operations<float>(bench::Trial&, HostMeter&);
template void host_operations<double>(bench::Trial&, HostMeter&);

} // namespace joules
