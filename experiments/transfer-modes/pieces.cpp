#include "problem.hpp"
#include "studies.hpp"

#include "cuda/error.hpp"
#include "transfer/today.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace transfer_modes {

namespace {

/// A thousand pieces that lie apart on the host and together on the device.
void pieces(Trial& trial, cuda::Gpu& gpu)
{
    constexpr std::size_t number = 1000;
    auto const piece = static_cast<std::size_t>(trial.integer("piece_bytes")) / sizeof(float);
    Problem const p{trial, gpu, number * piece * sizeof(float)};
    auto const y = trial.output<float>(p.count);
    p.expect(y);
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    auto const apart = [p, piece](Variant& variant) { // every second piece of an array
        auto const array = malloc_host(2 * p.count);
        auto const fill = [x = p.x, array, piece] {
            for (std::size_t i = 0; i < number; ++i) {
                std::ranges::copy(x.on().subspan(i * piece, piece),
                                  array.span.subspan(2 * i * piece).begin());
            }
        };
        fill();
        variant.on_refill(fill);
        variant.clock(p.gpu.wall());
        return array;
    };
    auto const bytes = piece * sizeof(float);
    //! [one_by_one]
    trial.add("one_by_one", [=](Variant& variant) {
        return [=, array = apart(variant), &gpu = p.gpu, y = y.on(p.gpu)] {
            for (std::size_t i = 0; i < number; ++i) {
                cuda::check(cudaMemcpyAsync(y.data() + i * piece, array.span.data() + 2 * i * piece,
                                            bytes, cudaMemcpyHostToDevice, gpu.stream().get()));
            }
            gpu.finish();
        };
    });
    //! [one_by_one]
    trial.add("batched", [=](Variant& variant) {
        if (auto const why = transfer::missing_batches(); !why.empty()) {
            variant.not_applicable(why);
        }
        auto const array = apart(variant);
        auto const batch = std::make_shared<transfer::Batch>();
        for (std::size_t i = 0; i < number; ++i) {
            batch->from.push_back(array.span.data() + 2 * i * piece);
            batch->to.push_back(y.on(p.gpu).data() + i * piece);
            batch->bytes.push_back(bytes);
        }
        return [array, batch, &gpu = p.gpu] {
            transfer::copy_batch(*batch, gpu.stream());
            gpu.finish();
        };
    });
    //! [packed]
    trial.add("packed", [=](Variant& variant) {
        return [=, array = apart(variant), together = malloc_host(p.count), &gpu = p.gpu,
                y = y.on(p.gpu)] {
            for (std::size_t i = 0; i < number; ++i) {
                std::memcpy(together.span.data() + i * piece, array.span.data() + 2 * i * piece,
                            bytes);
            }
            cuda::check(cudaMemcpyAsync(y.data(), together.span.data(), number * bytes,
                                        cudaMemcpyHostToDevice, gpu.stream().get()));
            gpu.finish();
        };
    });
    //! [packed]
    //! [strided]
    trial.add("strided", [=](Variant& variant) {
        return [=, array = apart(variant), &gpu = p.gpu, y = y.on(p.gpu)] {
            cuda::check(cudaMemcpy2DAsync(y.data(), bytes, array.span.data(), 2 * bytes, bytes,
                                          number, cudaMemcpyHostToDevice, gpu.stream().get()));
            gpu.finish();
        };
    });
    //! [strided]
    trial.run();
}

} // namespace

void add_pieces(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("pieces").on(gpu);
    study.axis("piece_bytes", {std::int64_t{512}, std::int64_t{4096}, std::int64_t{65'536}});
    study.untyped([&gpu](Trial& trial) { pieces(trial, gpu); });
}

} // namespace transfer_modes
