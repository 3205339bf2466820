#pragma once

#include "kernels_and_pages.hpp"

#include "machine/topology.hpp"
#include "transfer/placed.hpp"

#include <array>
#include <cstring>
#include <numeric>

/// What locked pages cost, and copies that share the bus, come in many pieces, or from far away.
namespace transfer_modes {

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
inline void through(void* memory, std::size_t bytes, std::span<std::int32_t const> x,
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
inline void through_device(void* memory, std::size_t bytes, std::span<std::int32_t const> x,
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

/// What it costs to allocate and release memory of each kind once.
inline void add_allocation(bench::Experiment& experiment, cuda::Gpu& gpu)
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

/// What is left of the host when so much of its memory is locked: fresh memory is touched, and
/// memory that is there is read.
inline void starved(Trial& trial)
{
    auto const locked = static_cast<std::size_t>(trial.integer("locked_mebibytes")) << 20;
    auto const bytes = static_cast<std::size_t>(trial.integer("mebibytes")) << 20;
    auto const free = machine::available_memory_bytes();
    if (2 * locked + 4 * bytes > free) {
        trial.not_applicable("more than half of the free memory would be locked");
    }
    auto const pages = std::make_shared<cuda::Pinned<std::byte>>(std::max<std::size_t>(1, locked));
    auto const x = trial.input<float>(bytes / sizeof(float));
    auto const y = trial.output<float>(x.size());
    y.expect(1, [x](std::size_t first, std::span<double> value, std::span<double> bound) {
        std::ranges::copy(x.on().subspan(first, value.size()), value.begin());
        std::ranges::fill(bound, 0.0);
    });
    trial.work({.bytes = 2.0 * static_cast<double>(bytes)});
    //! [copy_on_host]
    auto const copy = [x = x.on(), y = y.on(), pages] {
        std::memcpy(y.data(), x.data(), x.size_bytes());
    };
    //! [copy_on_host]
    //! [fresh_memory]
    auto const fresh_memory = [x = x.on(), y = y.on(), pages] {
        std::vector<float> const fresh{x.begin(), x.end()};
        std::memcpy(y.data(), fresh.data(), x.size_bytes());
    };
    //! [fresh_memory]
    trial.add("copy_on_host", copy).on(bench::host());
    trial.add("fresh_memory", fresh_memory).on(bench::host());
    trial.run();
}

inline void add_starved(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues locked;
    locked.tiny = {std::int64_t{0}, std::int64_t{1}};
    locked.quick = {std::int64_t{0}, std::int64_t{4096}};
    locked.full = {std::int64_t{0}, std::int64_t{4096}};
    auto& study = experiment.study("starved").on(gpu);
    study.axis("mebibytes", mebibytes(1, 64, 128)).axis("locked_mebibytes", locked);
    study.untyped([](Trial& trial) {
        starved(trial); // on the host, but pages are locked by the driver
    });
}

//! [host_reads]
inline double sum(std::span<float const> values)
{
    double total = 0;
    for (float const value : values) {
        total += static_cast<double>(value);
    }
    return total;
}
//! [host_reads]

/// Kinds of memory that the host may read and write.
inline std::vector<std::pair<std::string, std::function<HostArray(std::size_t)>>> host_kinds()
{
    return {{"pageable", pageable},
            {"malloc_host", malloc_host},
            {"write_combined",
             [](std::size_t count) { return host_alloc(count, cudaHostAllocWriteCombined); }}};
}

/// The host itself reads an array of each kind.
inline void host_reads(Trial& trial, cuda::Gpu& gpu)
{
    Problem const p{trial, gpu, std::size_t{1} << 20};
    auto const total = trial.output<double>(1);
    total.expect([x = p.x] {
        return bench::Expected{{sum(x.on())}, {0}}; // the same additions in the same order
    });
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    for (auto const& [name, make] : host_kinds()) {
        trial
            .add(name,
                 [p, total, make](Variant& variant) {
                     auto const array = p.filled(variant, make(p.count));
                     return [array, total = total.on()] { total[0] = sum(array.span); };
                 })
            .on(bench::host())
            .excerpt("host_reads");
    }
    trial.run();
}

/// The host itself writes an array of each kind.
inline void host_writes(Trial& trial, cuda::Gpu& gpu)
{
    Problem const p{trial, gpu, std::size_t{1} << 20};
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    for (auto const& [name, make] : host_kinds()) {
        trial
            .add(name,
                 [p, make](Variant& variant) {
                     auto const array = make(p.count);
                     p.expect(variant.output<float>(array.span));
                     //! [host_writes]
                     return [array, x = p.x.on()] {
                         std::memcpy(array.span.data(), x.data(), x.size_bytes());
                     };
                     //! [host_writes]
                 })
            .on(bench::host())
            .excerpt("host_writes");
    }
    trial.run();
}

//! [cache_reads]
/// Sixteen sums, none of which waits for another: as fast as the cache gives.
inline double sum_of_sums(std::span<float const> values)
{
    std::array<double, 16> sums{};
    for (std::size_t i = 0; i + sums.size() <= values.size(); i += sums.size()) {
        for (std::size_t k = 0; k < sums.size(); ++k) {
            sums[k] += static_cast<double>(values[i + k]);
        }
    }
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}
//! [cache_reads]

/// The host reads what was in its cache before it filled 32 MiB of each kind.
inline void cache_spared(Trial& trial, cuda::Gpu& gpu)
{
    Problem const p{trial, gpu, std::size_t{512} << 10};
    auto const total = trial.output<double>(1);
    total.expect([x = p.x] { return bench::Expected{{sum_of_sums(x.on())}, {0}}; });
    trial.cache(bench::Cache::warm);
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    auto const read = std::make_shared<double>(0);
    auto const add = [&](std::string const& name,
                         std::function<HostArray(std::size_t)> const& make) {
        trial
            .add(name,
                 [p, total, make, read](Variant& variant) {
                     auto const filled = make ? make(std::size_t{8} << 20) : HostArray{};
                     variant.on_reset([p, filled, read] {
                         *read = sum_of_sums(p.x.on()) + sum_of_sums(p.x.on()); // into the cache
                         std::ranges::fill(filled.span, 1.0F);
                     });
                     return [x = p.x.on(), total = total.on()] { total[0] = sum_of_sums(x); };
                 })
            .on(bench::host())
            .excerpt("cache_reads");
    };
    add("undisturbed", nullptr);
    for (auto const& [name, make] : host_kinds()) {
        if (name != "pageable") {
            add("after_" + name, make);
        }
    }
    trial.run();
}

inline void add_host_side(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    experiment.study("host_reads").on(gpu).untyped([&](Trial& trial) { host_reads(trial, gpu); });
    experiment.study("host_writes").on(gpu).untyped([&](Trial& trial) { host_writes(trial, gpu); });
    experiment.study("cache_spared").on(gpu).untyped([&](Trial& trial) {
        cache_spared(trial, gpu);
    });
}

/// A thousand pieces that lie apart on the host and together on the device.
inline void pieces(Trial& trial, cuda::Gpu& gpu)
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

inline void add_pieces(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("pieces").on(gpu);
    study.axis("piece_bytes", {std::int64_t{512}, std::int64_t{4096}, std::int64_t{65'536}});
    study.untyped([&gpu](Trial& trial) { pieces(trial, gpu); });
}

/// A copy of 4 KiB alone, and when a large one was queued before it in another stream.
inline void small_behind_large(Trial& trial, cuda::Gpu& gpu)
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

inline void add_behind(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("behind").on(gpu).axis("mebibytes", mebibytes(1, 64, 64));
    study.untyped([&gpu](Trial& trial) { small_behind_large(trial, gpu); });
}

/// Locked pages of each NUMA node.
inline void add_numa(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("numa").on(gpu);
    study.axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({65'536}, {67'108'864}, {67'108'864}));
    study.untyped([&gpu](Trial& trial) {
        auto const& nodes = machine::topology().memory_nodes;
        if (nodes.size() < 2) {
            trial.not_applicable("memory of one NUMA node may be used");
        }
        std::vector<Mode> modes;
        for (int const node : nodes) {
            //! [numa]
            auto const on_node = [node](std::size_t count) {
                auto const memory = std::make_shared<transfer::Placed>(count * sizeof(float), node);
                auto const pages = std::make_shared<cuda::Registered>(memory->span());
                using Kept = std::pair<decltype(memory), decltype(pages)>;
                return HostArray{std::make_shared<Kept>(memory, pages),
                                 {reinterpret_cast<float*>(memory->span().data()), count}};
            };
            //! [numa]
            modes.push_back({"node" + std::to_string(node), "numa", on_node});
        }
        compare(trial, gpu, modes);
    });
}

} // namespace transfer_modes
