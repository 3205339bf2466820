#include "problem.hpp"
#include "row_sums.hpp"
#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "transfer/kernels.hpp"
#include "transfer/today.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

namespace transfer_modes {

namespace {

/// What a kernel does with the array.
struct Use
{
    std::size_t every = 1; ///< it reads one row in so many
    int times = 1;         ///< so often
    int steps = 0;         ///< keeping busy so long behind each group of four elements
};

Use use_of(std::string const& name)
{
    return name == "once"          ? Use{}
           : name == "sparsely"    ? Use{.every = 64}
           : name == "many_times"  ? Use{.times = 16}
           : name == "overlapping" ? Use{.steps = 8192}
                                   : throw std::invalid_argument{"--use: no use " + name};
}

bench::AxisValues uses()
{
    bench::AxisValues values{"once", "sparsely", "many_times", "overlapping"};
    values.require = [](bench::Parameter const& value) { use_of(std::get<std::string>(value)); };
    return values;
}

//! [zero_copy]
/// The kernel reads the host's pages.
inline auto zero_copy(Problem const& p, Use const& use, bench::Output<double> const& sums)
{
    return [p, use, sums](Variant& variant) {
        variant.clock(p.gpu.wall());
        auto const x = p.filled(variant, host_alloc(p.count, cudaHostAllocMapped));
        return [x, use, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(x.span.data(), columns, use.every, use.steps, sums,
                                   gpu.stream().get());
            }
            gpu.finish();
        };
    };
}
//! [zero_copy]

//! [copy_then_kernel]
/// A copy first, of everything.
inline auto copy_then_kernel(Problem const& p, Use const& use, bench::Output<double> const& sums)
{
    return [p, use, sums](Variant& variant) {
        variant.clock(p.gpu.wall());
        auto const x = p.filled(variant, malloc_host(p.count));
        auto const device = std::make_shared<cuda::Buffer<float>>(p.count);
        return [x, device, use, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            auto const stream = gpu.stream().get();
            cuda::check(cudaMemcpyAsync(device->data(), x.span.data(), device->bytes(),
                                        cudaMemcpyHostToDevice, stream));
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(device->data(), columns, use.every, use.steps, sums, stream);
            }
            gpu.finish();
        };
    };
}
//! [copy_then_kernel]

//! [copy_rows]
/// A copy first, of the rows that are needed.
inline auto copy_rows(Problem const& p, Use const& use, bench::Output<double> const& sums)
{
    return [p, use, sums](Variant& variant) {
        variant.clock(p.gpu.wall());
        auto const x = p.filled(variant, malloc_host(p.count));
        auto const device = std::make_shared<cuda::Buffer<float>>(sums.size() * columns);
        return [x, device, use, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            constexpr std::size_t row = columns * sizeof(float);
            auto const stream = gpu.stream().get();
            cuda::check(cudaMemcpy2DAsync(device->data(), row, x.span.data(), use.every * row, row,
                                          sums.size(), cudaMemcpyHostToDevice, stream));
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(device->data(), columns, 1, use.steps, sums, stream);
            }
            gpu.finish();
        };
    };
}
//! [copy_rows]

//! [managed_touch]
/// Pages move when the kernel touches them, or all at once before.
inline auto managed(Problem const& p, Use const& use, bench::Output<double> const& sums,
                    bool prefetch)
{
    return [p, use, sums, prefetch](Variant& variant) {
        if (auto const why = transfer::missing_managed(); !why.empty()) {
            variant.not_applicable(why);
        }
        variant.clock(p.gpu.wall());
        auto const memory = std::make_shared<transfer::Managed>(p.count);
        auto const x = p.filled(variant, {memory, memory->span()});
        variant.on_reset([memory, &gpu = p.gpu] { // all pages are the host's
            memory->bring_to_host(gpu.stream());
            gpu.finish();
        });
        return [x, memory, use, prefetch, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            if (prefetch) {
                memory->bring_to_device(gpu.stream());
            }
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(x.span.data(), columns, use.every, use.steps, sums,
                                   gpu.stream().get());
            }
            gpu.finish();
        };
    };
}
//! [managed_touch]

} // namespace

/// A kernel reads an array on the host: by itself, after a copy, or in pages that move.
void add_zero_copy(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("zero_copy").on(gpu);
    study.axis("mebibytes", mebibytes(1, 64, 128)).axis("use", uses());
    study.untyped([&gpu](Trial& trial) {
        auto const use = use_of(trial.text("use"));
        Problem const p{trial, gpu, static_cast<std::size_t>(trial.integer("mebibytes")) << 20};
        auto const rows = p.count / columns;
        auto const sums = trial.output<double>((rows + use.every - 1) / use.every);
        sums.expect([x = p.x, use] { return sums_of_rows(x.on(), columns, use.every); });
        trial.work({.bytes = static_cast<double>(sums.size() * columns * sizeof(float))});
        trial.add("zero_copy", zero_copy(p, use, sums));
        trial.add("copy_then_kernel", copy_then_kernel(p, use, sums));
        trial.add("copy_rows", copy_rows(p, use, sums));
        trial.add("managed_touch", managed(p, use, sums, false));
        trial.add("managed_prefetch", managed(p, use, sums, true)).excerpt("managed_touch");
        trial.run();
    });
}

} // namespace transfer_modes
