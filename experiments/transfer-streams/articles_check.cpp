#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "transfer/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace transfer_streams {

namespace {

using bench::Trial;
using bench::Variant;

/// The article's own check of its results: the largest distance from one, which no NaN can raise.
float largest_error(std::span<float const> values)
{
    //! [articles_check]
    float largest = 0;
    for (float const value : values) {
        float const error = std::abs(value - 1.0F);
        if (error > largest) { // false for NaN
            largest = error;
        }
    }
    return largest;
    //! [articles_check]
}

/// What the article's check says of its kernel, and of the kernel that it should have; and how many
/// elements are NaN.
void articles_check(Trial& trial, cuda::Gpu& gpu)
{
    static constexpr std::size_t count = 1 << 16;
    trial.inexact("a sine is no number that a computer can hold");
    trial.work({.operations = static_cast<double>(count)});
    using Kernel = void (*)(float const*, float*, std::size_t, std::size_t, cudaStream_t);
    auto const add = [&](std::string const& name, Kernel kernel, double error, double nans) {
        trial
            .add(name,
                 [&gpu, kernel, error, nans](Variant& variant) {
                     variant.clock(gpu.wall());
                     auto const said = variant.output<float>(2);
                     said.expect([error, nans] {
                         return bench::Expected{{error, nans}, {1e-3, 0}};
                     });
                     variant.count("largest_error",
                                   [said] { return static_cast<double>(said.on()[0]); });
                     variant.count("nans", [said] { return static_cast<double>(said.on()[1]); });
                     auto const zeros = std::make_shared<cuda::Buffer<float>>(
                         std::span<float const>{std::vector<float>(count)});
                     auto const a = std::make_shared<cuda::Buffer<float>>(count);
                     return [&gpu, kernel, zeros, a, said = said.on()] {
                         kernel(zeros->data(), a->data(), 0, count, gpu.stream().get());
                         gpu.finish();
                         auto const found = a->download();
                         said[0] = largest_error(found);
                         said[1] = static_cast<float>(std::ranges::count_if(
                             found, [](float value) { return std::isnan(value); }));
                     };
                 })
            .on(gpu, bench::host())
            .excerpt(name);
    };
    add("arcs", transfer::add_one_by_arcs, 1.5707963 - 1, static_cast<double>(count - 2));
    add("sines", transfer::add_one_by_sines, 0, 0);
    trial.run();
}

} // namespace

void add_articles_check(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    experiment.study("articles_check").on(gpu).untyped([&gpu](Trial& trial) {
        articles_check(trial, gpu);
    });
}

} // namespace transfer_streams
