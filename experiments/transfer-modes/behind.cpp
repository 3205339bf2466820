#include "copies.hpp"
#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"

#include <functional>
#include <memory>
#include <string>

namespace transfer_modes {

namespace {

/// A copy of 4 KiB alone, and when a large one was queued before it in another stream.
void small_behind_large(Trial& trial, cuda::Gpu& gpu)
{
    Problem const p{trial, gpu, 4096};
    auto const y = trial.output<float>(p.count);
    p.expect(y);
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    auto const large = static_cast<std::size_t>(trial.integer("mebibytes")) << 18; // elements
    auto const other = std::make_shared<cuda::Stream>();
    trial.on_reset([other] { other->synchronize(); });
    auto const device = std::make_shared<cuda::Buffer<float>>(large);
    auto const host = malloc_host(large);
    auto const add = [&](std::string const& name, std::function<void(Ends const&)> const& first) {
        trial
            .add(name,
                 [p, y, first, device, host, large](Variant& variant) {
                     variant.clock(p.gpu.wall());
                     auto const x = p.filled(variant, malloc_host(p.count));
                     //! [small_copy]
                     return [=, &gpu = p.gpu, y = y.on(p.gpu)] {
                         first({device->data(), host.span.data(), large});
                         cuda::check(cudaMemcpyAsync(y.data(), x.span.data(), y.size_bytes(),
                                                     cudaMemcpyHostToDevice, gpu.stream().get()));
                         gpu.finish(); // waits for the small one only
                     };
                     //! [small_copy]
                 })
            .excerpt("small_copy");
    };
    auto const way = copy_engine();
    add("alone", [](Ends const&) {});
    add("behind_same_way", [=](Ends const& ends) { way.to_device(ends, *other); });
    add("behind_other_way", [=](Ends const& ends) { way.to_host(ends, *other); });
    trial.run();
    other->synchronize();
}

} // namespace

void add_behind(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("behind").on(gpu).axis("mebibytes", mebibytes(1, 64, 64));
    study.untyped([&gpu](Trial& trial) { small_behind_large(trial, gpu); });
}

} // namespace transfer_modes
