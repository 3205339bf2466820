#include "problem.hpp"
#include "row_sums.hpp"
#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "transfer/kernels.hpp"

#include <algorithm>
#include <memory>

namespace transfer_modes {

namespace {

//! [dot]
/// The article's product of two vectors, from write-combined pages, with partial sums in mapped
/// pages; or with copies.
inline auto dot(Problem const& p, bench::Input<float> const& b, bool copied)
{
    return [p, b, copied](Variant& variant) {
        variant.clock(p.gpu.wall());
        constexpr unsigned inputs = cudaHostAllocWriteCombined | cudaHostAllocMapped;
        auto const x = host_alloc(p.count, inputs);
        auto const y = host_alloc(p.count, inputs);
        auto const fill = [p, b, x, y] {
            std::ranges::copy(p.x.on(), x.span.begin());
            std::ranges::copy(b.on(), y.span.begin());
        };
        fill();
        variant.on_refill(fill);
        auto const sums =
            std::make_shared<cuda::Pinned<double>>(p.count / columns, cudaHostAllocMapped);
        variant.output<double>(sums->span()).expect([p, b] {
            return sums_of_rows(p.x.on(), columns, 1, b.on());
        });
        auto const device = std::make_shared<cuda::Buffer<float>>(copied ? 2 * p.count : 1);
        auto const there = std::make_shared<cuda::Buffer<double>>(sums->span().size());
        return [=, &gpu = p.gpu] {
            auto const stream = gpu.stream().get();
            auto const bytes = x.span.size_bytes();
            if (!copied) {
                transfer::row_products(x.span.data(), y.span.data(), columns, sums->span(), stream);
                gpu.finish();
                return;
            }
            auto* const second = device->data() + x.span.size();
            cuda::check(cudaMemcpyAsync(device->data(), x.span.data(), bytes,
                                        cudaMemcpyHostToDevice, stream));
            cuda::check(
                cudaMemcpyAsync(second, y.span.data(), bytes, cudaMemcpyHostToDevice, stream));
            transfer::row_products(device->data(), second, columns, there->span(), stream);
            cuda::check(cudaMemcpyAsync(sums->span().data(), there->data(), there->bytes(),
                                        cudaMemcpyDeviceToHost, stream));
            gpu.finish();
        };
    };
}
//! [dot]

} // namespace

void add_dot(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("dot").on(gpu).axis("mebibytes", mebibytes(1, 32, 128));
    study.untyped([&gpu](Trial& trial) {
        Problem const p{trial, gpu, static_cast<std::size_t>(trial.integer("mebibytes")) << 20};
        auto const b = trial.input<float>(p.count);
        trial.work({.bytes = 2.0 * static_cast<double>(p.count * sizeof(float))});
        trial.add("dot_zero_copy", dot(p, b, false)).on(gpu, bench::host()).excerpt("dot");
        trial.add("dot_copied", dot(p, b, true)).on(gpu, bench::host()).excerpt("dot");
        trial.run();
    });
}

} // namespace transfer_modes
