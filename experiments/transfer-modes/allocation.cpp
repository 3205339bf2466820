#include "problem.hpp"
#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "transfer/today.hpp"

#include <functional>
#include <memory>
#include <string>

namespace transfer_modes {

namespace {

/// Memory that a variant allocates in each call, and gives back at its end.
struct Allocation
{
    std::string name;
    std::string excerpt;
    /// Writes two numbers to the first and last place of so many bytes of new memory, reads them
    /// again and leaves them in the second span.
    std::function<void(std::size_t bytes, std::span<std::int32_t const>, std::span<std::int32_t>)>
        use;
    std::string missing = {};
};

/// Numbers through memory that the host reads and writes.
void through(void* memory, std::size_t bytes, std::span<std::int32_t const> x,
             std::span<std::int32_t> y)
{
    auto volatile* const first = static_cast<std::int32_t*>(memory);
    auto volatile* const last = first + bytes / sizeof(std::int32_t) - 1;
    *first = x[0];
    *last = x[1];
    y[0] = *first;
    y[1] = *last;
}

/// The same through memory of the device.
void through_device(void* memory, std::size_t bytes, std::span<std::int32_t const> x,
                    std::span<std::int32_t> y, cudaStream_t stream)
{
    auto* const first = static_cast<std::int32_t*>(memory);
    auto* const last = first + bytes / sizeof(std::int32_t) - 1;
    cuda::check(cudaMemcpyAsync(first, &x[0], sizeof *first, cudaMemcpyHostToDevice, stream));
    cuda::check(cudaMemcpyAsync(last, &x[1], sizeof *last, cudaMemcpyHostToDevice, stream));
    cuda::check(cudaMemcpyAsync(&y[0], first, sizeof *first, cudaMemcpyDeviceToHost, stream));
    cuda::check(cudaMemcpyAsync(&y[1], last, sizeof *last, cudaMemcpyDeviceToHost, stream));
    cuda::check(cudaStreamSynchronize(stream));
}

//! [allocations]
inline std::vector<Allocation> allocations(std::size_t most, cuda::Gpu& gpu)
{
    using In = std::span<std::int32_t const>;
    using Out = std::span<std::int32_t>;
    auto const locked = [](unsigned flags) {
        return [flags](std::size_t bytes, In x, Out y) {
            cuda::Pinned<std::byte> memory{bytes, flags};
            through(memory.span().data(), bytes, x, y);
        };
    };
    auto const touched = std::make_shared<std::vector<std::byte>>(most);
    return {
        {"malloc_and_touch", "allocations",
         [](std::size_t bytes, In x, Out y) {
             std::vector<std::byte> memory(bytes); // every page is written
             through(memory.data(), bytes, x, y);
         }},
        {"alloc_malloc_host", "allocations",
         [](std::size_t bytes, In x, Out y) {
             auto const memory = malloc_host(bytes / sizeof(float));
             through(memory.span.data(), bytes, x, y);
         }},
        {"alloc_default", "allocations", locked(cudaHostAllocDefault)},
        {"alloc_write_combined", "allocations", locked(cudaHostAllocWriteCombined)},
        {"register_touched", "allocations",
         [touched](std::size_t bytes, In x, Out y) {
             cuda::Registered const pages{std::span{*touched}.first(bytes)};
             through(touched->data(), bytes, x, y);
         }},
        {"device_malloc", "allocations",
         [&gpu](std::size_t bytes, In x, Out y) {
             cuda::Buffer<std::byte> memory{bytes};
             through_device(memory.data(), bytes, x, y, gpu.stream().get());
         }},
        {"device_pool", "allocations",
         [&gpu](std::size_t bytes, In x, Out y) {
             auto* const memory = transfer::allocate_in(gpu.stream(), bytes);
             through_device(memory, bytes, x, y, gpu.stream().get());
             transfer::release_in(gpu.stream(), memory);
         },
         transfer::missing_pools()},
    };
}
//! [allocations]

} // namespace

/// What it costs to allocate and release memory of each kind once.
void add_allocation(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{1}};
    values.quick = {std::int64_t{1}, std::int64_t{256}};
    values.full = {std::int64_t{1}, std::int64_t{16}, std::int64_t{256}};
    auto& study = experiment.study("allocation").on(gpu).axis("mebibytes", values);
    study.untyped([&gpu](Trial& trial) {
        auto const bytes = static_cast<std::size_t>(trial.integer("mebibytes")) << 20;
        auto const x = trial.input<std::int32_t>(2);
        auto const y = trial.output<std::int32_t>(2);
        y.expect([x] { return bench::Expected{{1.0 * x.on()[0], 1.0 * x.on()[1]}, {0, 0}}; });
        trial.work({.operations = static_cast<double>(trial.integer("mebibytes"))});
        trial.on_reset([] {}); // a call makes a sample
        for (auto const& allocation : allocations(bytes, gpu)) {
            trial
                .add(allocation,
                     [&gpu, bytes, allocation, x = x.on(), y = y.on()](Variant& variant) {
                         variant.clock(gpu.wall());
                         return [=] { allocation.use(bytes, x, y); };
                     })
                .on(gpu, bench::host())
                .excerpt(allocation.excerpt);
        }
        trial.run();
    });
}

} // namespace transfer_modes
