#pragma once

#include "bench/experiment.hpp"
#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/gpu.hpp"
#include "cuda/pinned.hpp"
#include "transfer/held_clock.hpp"
#include "transfer/kernels.hpp"
#include "transfer/staged_copy.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Ways to move an array between host and device.
namespace transfer_modes {

/// An array on the host, and what keeps it.
struct HostArray
{
    std::shared_ptr<void const> keeper;
    std::span<float> span;
};

using bench::Trial;
using bench::Variant;

//! [pageable]
/// Whole pages, all of them touched.
inline HostArray pageable(std::size_t count)
{
    constexpr std::align_val_t page{4096};
    auto* const memory = static_cast<float*>(::operator new(count * sizeof(float), page));
    std::fill_n(memory, count, 0.0F);
    return {{memory, [](void* pages) { ::operator delete(pages, page); }}, {memory, count}};
}
//! [pageable]

//! [malloc_host]
inline HostArray malloc_host(std::size_t count)
{
    void* memory = nullptr;
    cuda::check(cudaMallocHost(&memory, count * sizeof(float)));
    return {{memory, [](void* pages) { static_cast<void>(cudaFreeHost(pages)); }},
            {static_cast<float*>(memory), count}};
}
//! [malloc_host]

//! [host_alloc]
inline HostArray host_alloc(std::size_t count, unsigned flags)
{
    auto const array = std::make_shared<cuda::Pinned<float>>(count, flags); // cudaHostAlloc
    return {array, array->span()};
}
//! [host_alloc]

//! [registered]
inline HostArray registered(std::size_t count)
{
    auto const array = pageable(count);
    auto const pages = std::make_shared<cuda::Registered>(std::as_writable_bytes(array.span));
    return {std::make_shared<std::pair<HostArray, decltype(pages)>>(array, pages), array.span};
}
//! [registered]

/// What one copy has to do: so many elements on the device and on the host.
struct Ends
{
    float* device;
    float* host;
    std::size_t count;

    std::size_t bytes() const { return count * sizeof(float); }
};

/// A way to copy, in each direction, in the order of a stream. It may return before it is done.
struct Way
{
    std::function<void(Ends const&, cuda::Stream const&)> to_device;
    std::function<void(Ends const&, cuda::Stream const&)> to_host;
};

//! [copy]
/// cudaMemcpyAsync: by a copy engine where pages are locked, else by the runtime's own buffers.
inline Way copy_engine()
{
    return {[](Ends const& ends, cuda::Stream const& stream) {
                cuda::check(cudaMemcpyAsync(ends.device, ends.host, ends.bytes(),
                                            cudaMemcpyHostToDevice, stream.get()));
            },
            [](Ends const& ends, cuda::Stream const& stream) {
                cuda::check(cudaMemcpyAsync(ends.host, ends.device, ends.bytes(),
                                            cudaMemcpyDeviceToHost, stream.get()));
            }};
}
//! [copy]

/// The multiprocessors read or write the host's pages themselves.
inline Way multiprocessors()
{
    static constexpr unsigned blocks = 264;
    return {[](Ends const& ends, cuda::Stream const& stream) {
                transfer::copy_by_cores(ends.host, ends.device, ends.count, blocks, stream.get());
            },
            [](Ends const& ends, cuda::Stream const& stream) {
                transfer::copy_by_cores(ends.device, ends.host, ends.count, blocks, stream.get());
            }};
}

/// Our own copy of pageable memory.
inline Way staged(transfer::StagedCopyOptions const& options)
{
    auto const copy = std::make_shared<transfer::StagedCopy>(options);
    return {[copy](Ends const& ends, cuda::Stream const& stream) {
                copy->to_device(ends.device, ends.host, ends.bytes(), stream.get());
            },
            [copy](Ends const& ends, cuda::Stream const& stream) {
                copy->to_host(ends.host, ends.device, ends.bytes(), stream.get());
            }};
}

/// A contender: where the host's array lies, and who copies.
struct Mode
{
    std::string name;
    std::string excerpt;
    std::function<HostArray(std::size_t)> array;
    std::function<Way()> way = copy_engine;
    std::string group = "own";
    bool held = false;     ///< timed as nvbandwidth does
    bool both_ways = true; ///< two of these may be under way at once
};

/// NVIDIA's method: a kernel holds the stream until all is queued, and of two directions only one
/// is timed.
inline Mode nvbandwidth_method()
{
    return {.name = "nvbandwidth_method",
            .excerpt = "hold",
            .array = malloc_host,
            .group = "peer",
            .held = true};
}

/// What all copies of a trial share: `x` is the origin, on the host or on the device.
struct Problem
{
    Trial& trial;
    cuda::Gpu& gpu;
    std::size_t count;
    bench::Input<float> x;

    Problem(Trial& t, cuda::Gpu& g, std::size_t bytes)
        : trial{t}, gpu{g}, count{bytes / sizeof(float)}, x{t.input<float>(count)}
    {
    }

    /// The values themselves, exactly.
    void expect(bench::Output<float> const& y) const
    {
        y.expect(1, [x = x](std::size_t first, std::span<double> value, std::span<double> bound) {
            auto const from = x.on().subspan(first, value.size());
            std::ranges::copy(from, value.begin());
            std::ranges::fill(bound, 0.0);
        });
    }

    /// An array of a mode that holds x, also when that changes.
    HostArray filled(Variant& variant, HostArray const& array) const
    {
        auto const fill = [x = x, array] { std::ranges::copy(x.on(), array.span.begin()); };
        fill();
        variant.on_refill(fill);
        return array;
    }

    /// A wall clock, or the one that holds the stream: of one call, so that the queue does not
    /// fill.
    void choose_clock(Variant& variant, Mode const& mode, transfer::HeldClock& held) const
    {
        if (mode.held) {
            variant.clock(held);
            variant.on_reset([] {});
        } else {
            variant.clock(gpu.wall());
        }
    }
};

/// A wall clock counts until all is done; the clock that holds a stream must not wait in a batch.
inline void finish(Mode const& mode, cuda::Gpu& gpu)
{
    if (!mode.held) {
        gpu.finish();
    }
}

inline void add_to_device(Problem const& p, Mode const& mode, transfer::HeldClock& held,
                          bench::Output<float> const& y)
{
    p.trial
        .add(mode.name,
             [p, mode, &held, y](Variant& variant) {
                 p.choose_clock(variant, mode, held);
                 auto const array = p.filled(variant, mode.array(p.count));
                 Ends const ends{y.on(p.gpu).data(), array.span.data(), p.count};
                 return [array, ends, way = mode.way(), mode, &gpu = p.gpu] {
                     way.to_device(ends, gpu.stream());
                     finish(mode, gpu);
                 };
             })
        .on(p.gpu)
        .group(mode.group)
        .excerpt(mode.excerpt);
}

inline void add_to_host(Problem const& p, Mode const& mode, transfer::HeldClock& held)
{
    p.trial
        .add(mode.name,
             [p, mode, &held](Variant& variant) {
                 p.choose_clock(variant, mode, held);
                 auto const array = mode.array(p.count);
                 p.expect(variant.output<float>(array.span));
                 auto* const device = const_cast<float*>(p.x.on(p.gpu).data()); // it is only read
                 Ends const ends{device, array.span.data(), p.count};
                 return [array, ends, way = mode.way(), mode, &gpu = p.gpu] {
                     way.to_host(ends, gpu.stream());
                     finish(mode, gpu);
                 };
             })
        .on(p.gpu, bench::host())
        .group(mode.group)
        .excerpt(mode.excerpt);
}

/// Both directions at once: the same number of bytes each way.
inline void add_both(Problem const& p, Mode const& mode, transfer::HeldClock& held)
{
    p.trial
        .add(mode.name,
             [p, mode, &held](Variant& variant) {
                 if (!mode.both_ways) {
                     variant.not_applicable("copies one way at a time");
                 }
                 p.choose_clock(variant, mode, held);
                 auto const there = p.filled(variant, mode.array(p.count));
                 auto const back = mode.array(p.count);
                 auto const arrived = std::make_shared<cuda::Buffer<float>>(p.count);
                 p.expect(variant.output<float>(arrived->span(), p.gpu));
                 if (!mode.held) { // else the other direction may end later
                     p.expect(variant.output<float>(back.span));
                 }
                 auto* const device = const_cast<float*>(p.x.on(p.gpu).data());
                 Ends const out{arrived->data(), there.span.data(), p.count};
                 Ends const home{device, back.span.data(), p.count};
                 auto const other = std::make_shared<cuda::Stream>();
                 auto const begun = std::make_shared<cuda::Event>();
                 return [=, way = mode.way(), &gpu = p.gpu] {
                     static_cast<void>(there), static_cast<void>(back), static_cast<void>(arrived);
                     if (mode.held) {
                         begun->record(gpu.stream());
                         other->wait_for(*begun);
                         way.to_host(home, *other);
                         way.to_device(out, gpu.stream());
                         return;
                     }
                     gpu.forked(2, [&](std::span<cuda::Stream const> streams) {
                         way.to_device(out, streams[0]);
                         way.to_host(home, streams[1]);
                     });
                     gpu.finish();
                 };
             })
        .on(p.gpu)
        .group(mode.group)
        .excerpt(mode.excerpt);
}

/// Compares modes in one direction: "to_device", "to_host" or "both".
inline void compare(Trial& trial, cuda::Gpu& gpu, std::vector<Mode> const& modes)
{
    auto const direction = trial.text("direction");
    Problem const p{trial, gpu, static_cast<std::size_t>(trial.integer("bytes"))};
    double const ways = direction == "both" ? 2 : 1;
    trial.work({.bytes = ways * static_cast<double>(p.count * sizeof(float))});
    transfer::HeldClock held{gpu.stream()};
    if (direction == "to_device") {
        auto const y = trial.output<float>(p.count);
        p.expect(y);
        for (auto const& mode : modes) {
            add_to_device(p, mode, held, y);
        }
        trial.run();
        return;
    }
    for (auto const& mode : modes) {
        direction == "both" ? add_both(p, mode, held) : add_to_host(p, mode, held);
    }
    trial.run();
}

inline bench::AxisValues directions()
{
    bench::AxisValues values{"to_device", "to_host", "both"};
    values.require = [](bench::Parameter const& value) {
        auto const& name = std::get<std::string>(value);
        if (name != "to_device" && name != "to_host" && name != "both") {
            throw std::invalid_argument{"--direction: expected to_device, to_host or both, not " +
                                        name};
        }
    };
    return values;
}

/// Sizes in bytes, multiples of 16.
inline bench::AxisValues sizes(std::vector<std::int64_t> const& tiny,
                               std::vector<std::int64_t> const& quick,
                               std::vector<std::int64_t> const& full)
{
    bench::AxisValues values;
    values.tiny.assign(tiny.begin(), tiny.end());
    values.quick.assign(quick.begin(), quick.end());
    values.full.assign(full.begin(), full.end());
    values.require = [](bench::Parameter const& value) {
        auto const bytes = std::get<std::int64_t>(value);
        if (bytes < 16 || bytes % 16 != 0) {
            throw std::invalid_argument{"--bytes: expected a multiple of 16, not " +
                                        std::to_string(bytes)};
        }
    };
    return values;
}

/// The ways that a program chooses from, at every size; 1,228,800 and 7,372,800 bytes are the
/// article's images of 1280 x 960: one in grey, and two in colour.
inline void add_modes(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("modes").on(gpu);
    study.axis("direction", directions());
    study.axis("bytes",
               sizes({4096, 1'228'800}, {4096, 65'536, 1'228'800, 7'372'800, 67'108'864},
                     {4096, 65'536, 262'144, 1'228'800, 7'372'800, 67'108'864, 268'435'456}));
    study.untyped([&gpu](Trial& trial) {
        compare(trial, gpu,
                {{"pageable", "pageable", pageable},
                 {"malloc_host", "malloc_host", malloc_host},
                 {"registered", "registered", registered},
                 {"sm_copy", "sm_copy", malloc_host, multiprocessors},
                 {.name = "staged8",
                  .excerpt = "staged",
                  .array = pageable,
                  .way = [] { return staged({.threads = 8}); },
                  .group = "library",
                  .both_ways = false},
                 nvbandwidth_method()});
    });
}

/// A gibibyte in locked pages: what a latency costs there cannot be seen.
inline void add_large(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("large").on(gpu).axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({}, {}, {1'073'741'824}));
    study.untyped([&gpu](Trial& trial) {
        compare(trial, gpu, {{"malloc_host", "malloc_host", malloc_host}, nvbandwidth_method()});
    });
}

/// Every flag that locked pages can have.
inline void add_kinds(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("kinds").on(gpu);
    study.axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({4096}, {67'108'864}, {4096, 67'108'864}));
    study.untyped([&gpu](Trial& trial) {
        auto const with = [](unsigned flags) {
            return [flags](std::size_t count) { return host_alloc(count, flags); };
        };
        constexpr unsigned combined = cudaHostAllocWriteCombined;
        compare(trial, gpu,
                {{"malloc_host", "malloc_host", malloc_host},
                 {"host_alloc", "host_alloc", with(cudaHostAllocDefault)},
                 {"portable", "host_alloc", with(cudaHostAllocPortable)},
                 {"mapped", "host_alloc", with(cudaHostAllocMapped)},
                 {"write_combined", "host_alloc", with(combined)},
                 {"mapped_write_combined", "host_alloc", with(combined | cudaHostAllocMapped)},
                 {"registered", "registered", registered},
                 nvbandwidth_method()});
    });
}

/// Our copy of pageable memory by one to eight threads, between the runtime's and locked pages.
inline void add_staged(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("staged").on(gpu);
    study.axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({65'536}, {67'108'864}, {67'108'864, 268'435'456}));
    study.untyped([&gpu](Trial& trial) {
        std::vector<Mode> modes{{"pageable", "pageable", pageable},
                                {"malloc_host", "malloc_host", malloc_host}};
        for (int const threads : {1, 2, 4, 8}) {
            modes.push_back({.name = "staged" + std::to_string(threads),
                             .excerpt = "staged",
                             .array = pageable,
                             .way = [threads] { return staged({.threads = threads}); },
                             .group = "library"});
        }
        compare(trial, gpu, modes);
    });
}

} // namespace transfer_modes
