#include "copies.hpp"
#include "studies.hpp"

#include "bench/do_not_optimize.hpp"
#include "simd/vector.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace transfer_modes {

namespace {

//! [engine]
/// Each core reads its part of an array: the lines are in its caches then.
void read(std::span<float> array, std::span<float const>)
{
    double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (std::size_t i = 0; i < array.size(); i += 16) { // one element of each line
        total += static_cast<double>(array[i]);
    }
    bench::do_not_optimize(total);
}

/// Each core writes its part: the lines are in its caches, and newer there than in memory.
void written(std::span<float> array, std::span<float const> values)
{
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < array.size(); ++i) {
        array[i] = values[i];
    }
}

/// Each core writes its part past its caches.
void streamed(std::span<float> array, std::span<float const> values)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < array.size(); i += simd::lanes<float>) {
            simd::stream(&array[i], simd::load(&values[i]));
        }
        simd::finish_streaming();
    }
}
//! [engine]

/// What all cores do with an array before an engine copies it to the device.
using Touch = std::function<void(std::span<float>, std::span<float const>)>;

std::vector<std::pair<std::string, Touch>> touches()
{
    return {{"untouched", [](std::span<float>, std::span<float const>) {}},
            {"read", read},
            {"written", written},
            {"streamed", streamed}};
}

void add(Problem const& p, bench::Output<float> const& y, std::string const& name,
         Touch const& touch)
{
    p.trial
        .add(name,
             [p, y, touch](Variant& variant) {
                 variant.clock(p.gpu.wall());
                 auto const array = p.filled(variant, malloc_host(p.count));
                 variant.on_reset([array, touch, x = p.x] { touch(array.span, x.on()); });
                 Ends const ends{y.on(p.gpu).data(), array.span.data(), p.count};
                 return [array, ends, way = copy_engine(), &gpu = p.gpu] {
                     way.to_device(ends, gpu.stream());
                     gpu.finish();
                 };
             })
        .excerpt("engine");
}

} // namespace

void add_engine(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("engine").on(gpu);
    study.axis("bytes", sizes({1 << 20}, {8 << 20, 64 << 20}, {1 << 20, 8 << 20, 64 << 20}));
    study.untyped([&gpu](Trial& trial) {
        Problem const p{trial, gpu, static_cast<std::size_t>(trial.integer("bytes"))};
        trial.cache(bench::Cache::warm); // as a touch leaves them
        trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
        auto const y = trial.output<float>(p.count);
        p.expect(y);
        for (auto const& [name, touch] : touches()) {
            add(p, y, name, touch);
        }
        trial.run();
    });
}

} // namespace transfer_modes
