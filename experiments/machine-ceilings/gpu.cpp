#include "studies.hpp"

#include "ceilings/device_kernels.hpp"
#include "ceilings/device_probes.hpp"
#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/gpu.hpp"
#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"

#include <cuda_runtime_api.h>

/// The studies of a GPU and its bus.
namespace machine_ceilings {

namespace {

/// Results of kernels that are measured warm, one element for each block or thread.
template <class T>
bench::Output<T> warm_results(bench::Trial& trial, std::size_t count)
{
    trial.cache(bench::Cache::warm);
    return trial.output<T>(count);
}

/// Reads tables from one that first-level caches hold to one that no cache does, `steps` times in
/// each thread; each repeats the same `period` values. A block does `work`.
template <class T>
void read_tables(bench::Trial& trial, cuda::Gpu& gpu, std::string const& kernel_name,
                 decltype(ceilings::device_read<T>)& kernel,
                 decltype(ceilings::device_read_reference<T>)& reference, std::size_t smallest,
                 unsigned steps, bench::Work work)
{
    auto const values = trial.input<T>(ceilings::period);
    auto const blocks = ceilings::device_blocks();
    auto const sums = warm_results<T>(trial, blocks);
    trial.work({.bytes = blocks * work.bytes, .operations = blocks * work.operations});
    sums.expect([=, &reference] { return reference(values, blocks, steps); });
    cuda::Buffer<T> largest{ceilings::beyond_l2() / sizeof(T)};
    auto const fill = [&, values = values.on(gpu)] {
        ceilings::device_repeat<T>(values, largest.span(), gpu.stream());
    };
    fill();
    trial.on_refill(fill);
    for (auto bytes = smallest; bytes <= largest.bytes(); bytes *= 4) {
        std::span<T const> const table{largest.span().first(bytes / sizeof(T))};
        auto const read = [=, &gpu, &kernel, out = sums.on(gpu)] {
            kernel(table, steps, out, gpu.stream());
        };
        trial.add(kernel_name + "_" + binary_size(bytes), read).excerpt(kernel_name);
    }
    trial.run();
}

/// Reading tables in order.
void device_read(bench::Trial& trial, cuda::Gpu& gpu)
{
    constexpr unsigned steps = 256;
    read_tables<double>(trial, gpu, "device_read", ceilings::device_read,
                        ceilings::device_read_reference, std::size_t{1} << 20, steps,
                        {.bytes = ceilings::device_read_bytes(steps)});
}

/// Reading elements of tables in no order.
constexpr auto device_gather = []<class T>(bench::Trial& trial, cuda::Gpu& gpu) {
    constexpr unsigned steps = 64;
    read_tables<T>(trial, gpu, "device_gather", ceilings::device_gather,
                   ceilings::device_gather_reference, std::size_t{1} << 14, steps,
                   {.operations = ceilings::device_gather_count(steps)});
};

/// One array into another, both in the memory of the device.
void device_copy(bench::Trial& trial, cuda::Gpu& gpu)
{
    auto const count = 2 * cuda::l2_bytes() / sizeof(double); // two arrays: four caches
    auto const input = trial.input<double>(count);
    struct
    {
        std::span<double const> device;
    } const a{input.on(gpu)};
    cuda::Buffer<double> b{count};
    auto const& stream = gpu.stream();
    trial.cache(bench::Cache::cold);
    trial.work({.bytes = 2.0 * static_cast<double>(b.bytes())});
    trial.output(b.span(), gpu).expect([&] { return ceilings::copy_reference<double>(input); });
    //! [cuda_memcpy]
    auto const copied_by_runtime = [&] {
        cuda::check(cudaMemcpyAsync(b.data(), a.device.data(), b.bytes(), cudaMemcpyDeviceToDevice,
                                    stream.get()));
    };
    //! [cuda_memcpy]
    trial.add("cuda_memcpy", copied_by_runtime).group("peer");
    trial.add("device_copy", [&] { ceilings::device_copy<double>(a.device, b.span(), stream); });
    trial.run();
}

/// Reading shared memory, a word or 16 bytes at a time.
constexpr auto device_shared = []<class T>(bench::Trial& trial, cuda::Gpu& gpu) {
    constexpr unsigned steps = 1u << 15;
    auto const values = trial.input<T>(ceilings::shared_words);
    auto const blocks = ceilings::device_blocks();
    auto const sums = warm_results<T>(trial, blocks);
    trial.work({.bytes = blocks * ceilings::device_shared_bytes<T>(steps)});
    sums.expect([=] { return ceilings::device_shared_reference<T>(values, blocks, steps); });
    auto const add = [&](std::string const& name, bool is_wide) {
        auto const read = [=, &gpu, from = values.on(gpu), out = sums.on(gpu)] {
            ceilings::device_shared<T>(from, steps, is_wide, out, gpu.stream());
        };
        trial.add(name, read).excerpt("device_shared");
    };
    add("device_shared_word", false);
    add("device_shared_16_bytes", true);
    trial.run();
};

/// Multiply-adds in registers.
constexpr auto device_fma = []<class T>(bench::Trial& trial, cuda::Gpu& gpu) {
    auto const start = trial.input<T>(ceilings::device_chains);
    auto const factors = trial.input<T>(2).on();
    auto const count = std::size_t{ceilings::device_blocks()} * ceilings::device_threads;
    auto const sums = warm_results<T>(trial, count);
    trial.work({.flops = static_cast<double>(count) * ceilings::device_fma_flops});
    sums.expect(
        [=] { return ceilings::device_fma_reference<T>(start, factors[0], factors[1], count); });
    trial.add("device_fma", [=, &gpu, from = start.on(gpu), out = sums.on(gpu)] {
        ceilings::device_fma<T>(from, factors[0], factors[1], out, gpu.stream());
    });
    trial.run();
};

/// Warps that take numbers from one counter, one at a time or several.
void device_take(bench::Trial& trial, cuda::Gpu& gpu)
{
    constexpr std::size_t count = 1 << 20;
    cuda::Buffer<unsigned> counter{1};
    auto const taken = warm_results<double>(trial, count);
    trial.work({.operations = static_cast<double>(count)});
    taken.expect([] { return ceilings::counted(count, 1); });
    for (unsigned const chunk : {1U, 4U, 16U}) {
        auto const take = [&, chunk, out = taken.on(gpu)] {
            ceilings::device_take(counter.data(), chunk, out, gpu.stream());
        };
        trial.add("device_take_" + std::to_string(chunk), take).excerpt("device_take");
    }
    trial.run();
}

/// A way of launching: `count` kernels, of which each leaves a mark. A call may wait for them, or
/// begin when the device has nothing to do, and then alone makes a sample.
void launches(bench::Trial& trial, cuda::Gpu& gpu, std::string const& name, std::size_t count,
              bench::Clock& clock, bool waits, bool begins_idle)
{
    if (begins_idle) {
        trial.on_reset([&] { gpu.finish(); });
    }
    auto const marks = warm_results<double>(trial, count);
    trial.work({.operations = static_cast<double>(count)});
    marks.expect([=] { return ceilings::counted(count, 1); });
    auto const launch = [=, &gpu, out = marks.on(gpu)] {
        ceilings::device_launches(out, gpu.stream());
        if (waits) {
            gpu.finish();
        }
    };
    trial.add(name, launch).excerpt("device_launch").clock(clock);
    trial.run();
}

/// Arrays in pinned memory and on the device, to be copied over the bus. Variants name the host
/// too: the caches of both ends begin empty.
struct BusArrays
{
    static constexpr std::size_t bytes = std::size_t{64} << 20;
    cuda::Stream const& stream;
    cuda::Pinned<double> sent{bytes / sizeof(double)};
    cuda::Pinned<double> received{bytes / sizeof(double)};
    cuda::Buffer<double> arriving{bytes / sizeof(double)};
    cuda::Buffer<double> leaving{bytes / sizeof(double)};

    /// What comes over the bus, to the device or to the host, is what was sent.
    BusArrays(bench::Trial& trial, cuda::Gpu& gpu, bool arrives, bool returns)
        : stream{gpu.stream()}
    {
        auto const expected = [this] { return ceilings::copy_reference<double>(sent.span()); };
        trial.input(sent.span());
        auto const upload = [this] { leaving.upload(sent.span()); };
        upload();
        trial.on_refill(upload);
        trial.cache(bench::Cache::cold);
        trial.work({.bytes = static_cast<double>(bytes) * (arrives + returns)});
        if (arrives) {
            trial.output(arriving.span(), gpu).expect(expected);
        }
        if (returns) {
            trial.output(received.span()).expect(expected);
        }
    }

    //! [bus_to_device]
    void to_device(cuda::Stream const& on)
    {
        cuda::check(cudaMemcpyAsync(arriving.data(), sent.span().data(), bytes,
                                    cudaMemcpyHostToDevice, on.get()));
    }
    //! [bus_to_device]
    //! [bus_to_host]
    void to_host(cuda::Stream const& on)
    {
        cuda::check(cudaMemcpyAsync(received.span().data(), leaving.data(), bytes,
                                    cudaMemcpyDeviceToHost, on.get()));
    }
    //! [bus_to_host]
};

void bus_to_device(bench::Trial& trial, cuda::Gpu& gpu)
{
    BusArrays on{trial, gpu, true, false};
    trial.add("bus_to_device", [&] { on.to_device(on.stream); }).on(gpu, bench::host());
    trial.run();
}

void bus_to_host(bench::Trial& trial, cuda::Gpu& gpu)
{
    BusArrays on{trial, gpu, false, true};
    trial.add("bus_to_host", [&] { on.to_host(on.stream); }).on(gpu, bench::host());
    trial.run();
}

/// Both directions at once, each in a stream of its own.
void bus_both(bench::Trial& trial, cuda::Gpu& gpu)
{
    BusArrays on{trial, gpu, true, true};
    cuda::Stream back;
    cuda::Event begun;
    cuda::Event arrived;
    //! [bus_both]
    auto const both = [&] {
        begun.record(on.stream);
        back.wait_for(begun);
        on.to_device(on.stream);
        on.to_host(back);
        arrived.record(back);
        on.stream.wait_for(arrived);
    };
    //! [bus_both]
    trial.add("bus_both", both).on(gpu, bench::host());
    trial.run();
}

} // namespace

} // namespace machine_ceilings

void cuda::add_studies(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    if (gpu.missing().empty()) {
        experiment.library("cuda-runtime", cuda::runtime_version());
    }
    experiment.ceiling(gpu, ceilings::device_read)
        .ceiling(gpu, ceilings::device_l2)
        .ceiling(gpu, ceilings::device_copy)
        .ceiling(gpu, ceilings::device_fma<float>)
        .ceiling(gpu, ceilings::device_fma<double>)
        .ceiling(gpu, ceilings::bus_to_device)
        .ceiling(gpu, ceilings::bus_to_host);
    auto const add = [&](char const* name, void (*measure)(bench::Trial&, cuda::Gpu&)) {
        experiment.study(name).on(gpu).untyped(
            [=, &gpu](bench::Trial& trial) { measure(trial, gpu); });
    };
    auto const add_typed = [&](char const* name, auto measure) {
        experiment.study(name).on(gpu).types<float, double>(
            [=, &gpu]<class T>(bench::Trial& trial) {
                measure.template operator()<T>(trial, gpu);
            });
    };
    auto const add_launches = [&](std::string const& name, std::size_t count, auto clock,
                                  bool waits = false, bool begins_idle = false) {
        experiment.study(name).on(gpu).untyped([=, &gpu](bench::Trial& trial) {
            machine_ceilings::launches(trial, gpu, name, count, (gpu.*clock)(), waits, begins_idle);
        });
    };
    constexpr std::size_t many = 1000; // in a queue: as fast as the host gives them
    add("device_read", machine_ceilings::device_read);
    add("device_copy", machine_ceilings::device_copy);
    add_typed("device_gather", machine_ceilings::device_gather);
    add("device_take", machine_ceilings::device_take);
    add_typed("device_shared", machine_ceilings::device_shared);
    add_typed("device_fma", machine_ceilings::device_fma);
    add_launches("launch_and_wait", 1, &cuda::Gpu::wall, true);
    add_launches("launch_between_events", 1, &cuda::Gpu::events, false, true);
    add_launches("launch_in_queue", many, &cuda::Gpu::events);
    add_launches("launch_in_graph", many, &cuda::Gpu::graph);
    add("bus_to_device", machine_ceilings::bus_to_device);
    add("bus_to_host", machine_ceilings::bus_to_host);
    add("bus_both", machine_ceilings::bus_both);
}
