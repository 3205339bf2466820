#include "copies.hpp"
#include "studies.hpp"

#include "transfer/kernels.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <variant>

namespace transfer_modes {

namespace {

/// The multiprocessors read or write the host's pages themselves.
Way multiprocessors()
{
    static constexpr unsigned blocks = 264;
    return {[](Ends const& ends, cuda::Stream const& stream) {
                transfer::copy_by_cores(ends.host, ends.device, ends.count, blocks, stream.get());
            },
            [](Ends const& ends, cuda::Stream const& stream) {
                transfer::copy_by_cores(ends.device, ends.host, ends.count, blocks, stream.get());
            }};
}

/// NVIDIA's method: a kernel holds the stream until all is queued, and of two directions only one
/// is timed.
Mode nvbandwidth_method()
{
    return {.name = "nvbandwidth_method",
            .excerpt = "hold",
            .array = malloc_host,
            .group = "peer",
            .held = true};
}

bench::AxisValues directions()
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

} // namespace

/// The ways that a program chooses from, at every size; 1,228,800 and 7,372,800 bytes are the
/// article's images of 1280 x 960: one in grey, and two in colour.
void add_modes(bench::Experiment& experiment, cuda::Gpu& gpu)
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
void add_large(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("large").on(gpu).axis("direction", {"to_device", "to_host"});
    study.axis("bytes", sizes({}, {}, {1'073'741'824}));
    study.untyped([&gpu](Trial& trial) {
        compare(trial, gpu, {{"malloc_host", "malloc_host", malloc_host}, nvbandwidth_method()});
    });
}

/// Every flag that locked pages can have.
void add_kinds(bench::Experiment& experiment, cuda::Gpu& gpu)
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

} // namespace transfer_modes
