#include "device.hpp"

#include "memory.hpp"

#include "ceilings/device_probes.hpp"
#include "cuda/cache_flush.hpp"
#include "cuda/clock.hpp"
#include "cuda/output.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace machine_ceilings {

namespace {

/// Inputs on the host and their copy on the device, which follows them.
template <class T>
struct Operand
{
    std::span<T const> host;
    cuda::Buffer<T> device;

    Operand(bench::Trial<T>& trial, std::size_t count) : host{trial.input(count)}, device{count} {}

    void upload() { device.upload(host); }
};

/// Results of kernels that are measured warm and in graphs, one element for each block or thread.
template <class T>
struct Results
{
    cuda::Stream stream;
    cuda::Buffer<T> values;

    Results(bench::Trial<T>& trial, std::size_t count) : values{count}
    {
        trial.clock(std::make_unique<cuda::GraphClock>(stream));
        trial.cache(bench::Cache::warm);
        trial.output(cuda::output(values, stream));
    }

    double count() const { return static_cast<double>(values.size()); }
};

/// Adds `add(table, name)` for tables from one that first-level caches hold to one that no cache
/// does; each repeats the same `period` values.
template <class T, class Add>
void for_tables(bench::Trial<T>& trial, std::size_t smallest, Operand<T>& values,
                cuda::Stream const& stream, Add add)
{
    cuda::Buffer<T> largest{ceilings::beyond_l2() / sizeof(T)};
    trial.on_refill([&] {
        values.upload();
        ceilings::device_repeat<T>(values.device.span(), largest.span(), stream);
    });
    for (auto bytes = smallest; bytes <= largest.bytes(); bytes *= 4) {
        add(std::span<T const>{largest.span().first(bytes / sizeof(T))}, binary_size(bytes));
    }
    trial.run();
}

/// Reading tables in order.
template <class T>
void device_read(bench::Trial<T>& trial)
{
    require_fp64(trial);
    constexpr unsigned steps = 256;
    Operand<T> values{trial, ceilings::period};
    Results<T> sum{trial, ceilings::device_blocks()};
    trial.work({.bytes = sum.count() * ceilings::device_read_bytes(steps)});
    trial.expect([&] {
        return expected(
            ceilings::device_read_reference(values.host, ceilings::device_blocks(), steps));
    });
    for_tables(trial, std::size_t{1} << 20, values, sum.stream,
               [&](std::span<T const> part, std::string const& size) {
                   auto const read = [&, part] {
                       ceilings::device_read(part, steps, sum.values.span(), sum.stream);
                   };
                   trial.add("device_read_" + size, read).excerpt("device_read");
               });
}

/// Reading elements of tables in no order.
template <class T>
void device_gather(bench::Trial<T>& trial)
{
    constexpr unsigned steps = 64;
    Operand<T> values{trial, ceilings::period};
    Results<T> sum{trial, ceilings::device_blocks()};
    trial.work({.operations = sum.count() * ceilings::device_gather_count(steps)});
    trial.expect([&] {
        return expected(
            ceilings::device_gather_reference(values.host, ceilings::device_blocks(), steps));
    });
    for_tables(trial, std::size_t{1} << 14, values, sum.stream,
               [&](std::span<T const> part, std::string const& size) {
                   auto const gather = [&, part] {
                       ceilings::device_gather(part, steps, sum.values.span(), sum.stream);
                   };
                   trial.add("device_gather_" + size, gather).excerpt("device_gather");
               });
}

/// One array into another, both in the memory of the device.
template <class T>
void device_copy(bench::Trial<T>& trial)
{
    require_fp64(trial);
    cuda::Stream const stream;
    Operand<T> a{trial, 2 * cuda::l2_bytes() / sizeof(T)}; // two arrays: four caches
    cuda::Buffer<T> b{a.host.size()};
    trial.on_refill([&] { a.upload(); });
    trial.clock(std::make_unique<cuda::EventClock>(stream));
    trial.cache(bench::Cache::cold);
    trial.flush_with([flush = std::make_shared<cuda::CacheFlush>(stream)] { (*flush)(); });
    trial.work({.bytes = 2.0 * static_cast<double>(b.bytes())});
    trial.output(cuda::output(b, stream));
    trial.expect([&] { return expected(ceilings::copy_reference(a.host)); });
    //! [cuda_memcpy]
    auto const copied_by_runtime = [&] {
        cuda::check(cudaMemcpyAsync(b.data(), a.device.data(), b.bytes(), cudaMemcpyDeviceToDevice,
                                    stream.get()));
    };
    //! [cuda_memcpy]
    trial.add("cuda_memcpy", copied_by_runtime).group("peer");
    trial.add("device_copy", [&] { ceilings::device_copy<T>(a.device.span(), b.span(), stream); });
    trial.run();
}

/// Reading shared memory, a word or 16 bytes at a time.
template <class T>
void device_shared(bench::Trial<T>& trial)
{
    constexpr unsigned steps = 1u << 15;
    Operand<T> values{trial, ceilings::shared_words};
    Results<T> sum{trial, ceilings::device_blocks()};
    trial.on_refill([&] { values.upload(); });
    trial.work({.bytes = sum.count() * ceilings::device_shared_bytes<T>(steps)});
    trial.expect([&] {
        return expected(
            ceilings::device_shared_reference(values.host, ceilings::device_blocks(), steps));
    });
    auto const add = [&](std::string const& name, bool is_wide) {
        auto const read = [&, is_wide] {
            ceilings::device_shared<T>(values.device.span(), steps, is_wide, sum.values.span(),
                                       sum.stream);
        };
        trial.add(name, read).excerpt("device_shared");
    };
    add("device_shared_word", false);
    add("device_shared_16_bytes", true);
    trial.run();
}

/// Multiply-adds in registers.
template <class T>
void device_fma(bench::Trial<T>& trial)
{
    Operand<T> start{trial, ceilings::device_chains};
    auto const factors = trial.input(2);
    Results<T> sum{trial, std::size_t{ceilings::device_blocks()} * ceilings::device_threads};
    trial.on_refill([&] { start.upload(); });
    trial.work({.flops = sum.count() * ceilings::device_fma_flops});
    trial.expect([&] {
        return expected(
            ceilings::device_fma_reference(start.host, factors[0], factors[1], sum.values.size()));
    });
    trial.add("device_fma", [&] {
        ceilings::device_fma<T>(start.device.span(), factors[0], factors[1], sum.values.span(),
                                sum.stream);
    });
    trial.run();
}

/// Warps that take numbers from one counter, one at a time or several.
template <class T>
void device_take(bench::Trial<T>& trial)
{
    require_fp64(trial);
    constexpr std::size_t count = 1 << 20;
    cuda::Buffer<unsigned> counter{1};
    Results<T> taken{trial, count};
    trial.work({.operations = static_cast<double>(count)});
    trial.expect([] { return expected(ceilings::counted(count, 1)); });
    for (unsigned const chunk : {1U, 4U, 16U}) {
        auto const take = [&, chunk] {
            ceilings::device_take(counter.data(), chunk, taken.values.span(), taken.stream);
        };
        trial.add("device_take_" + std::to_string(chunk), take).excerpt("device_take");
    }
    trial.run();
}

/// What is common to all ways of launching: `count` kernels, of which each leaves a mark.
template <class T>
void launches(bench::Trial<T>& trial, std::string const& name, std::size_t count,
              cuda::Stream const& stream, std::unique_ptr<bench::Clock> clock, bool waits)
{
    cuda::Buffer<T> marks{count};
    trial.clock(std::move(clock));
    trial.cache(bench::Cache::warm);
    trial.work({.operations = static_cast<double>(count)});
    trial.output(cuda::output(marks, stream));
    trial.expect([=] { return expected(ceilings::counted(count, 1)); });
    auto const launch = [&, waits] {
        ceilings::device_launches(marks.span(), stream);
        if (waits) {
            stream.synchronize();
        }
    };
    trial.add(name, launch).excerpt("device_launch");
    trial.run();
}

constexpr std::size_t many = 1000;

/// The host launches and waits.
template <class T>
void launch_and_wait(bench::Trial<T>& trial)
{
    require_fp64(trial);
    launches(trial, "launch_and_wait", 1, cuda::Stream{}, std::make_unique<bench::HostClock>(),
             true);
}

/// One launch between two events, on a device that waits for it.
template <class T>
void launch_between_events(bench::Trial<T>& trial)
{
    require_fp64(trial);
    cuda::Stream const stream;
    trial.on_reset([&] { stream.synchronize(); }); // also: one call makes a sample
    launches(trial, "launch_between_events", 1, stream, std::make_unique<cuda::EventClock>(stream),
             false);
}

/// Launches as fast as the host can give them.
template <class T>
void launch_in_queue(bench::Trial<T>& trial)
{
    require_fp64(trial);
    cuda::Stream const stream;
    launches(trial, "launch_in_queue", many, stream, std::make_unique<cuda::EventClock>(stream),
             false);
}

/// The nodes of a graph.
template <class T>
void launch_in_graph(bench::Trial<T>& trial)
{
    require_fp64(trial);
    cuda::Stream const stream;
    launches(trial, "launch_in_graph", many, stream, std::make_unique<cuda::GraphClock>(stream),
             false);
}

/// Arrays in pinned memory and on the device, to be copied over the bus.
template <class T>
struct BusArrays
{
    static constexpr std::size_t bytes = std::size_t{64} << 20;
    cuda::Stream stream;
    cuda::Pinned<T> sent{bytes / sizeof(T)};
    cuda::Pinned<T> received{bytes / sizeof(T)};
    cuda::Buffer<T> arriving{bytes / sizeof(T)};
    cuda::Buffer<T> leaving{bytes / sizeof(T)};

    BusArrays(bench::Trial<T>& trial, double directions)
    {
        require_fp64(trial);
        trial.input(sent.span());
        trial.on_refill([this] { leaving.upload(sent.span()); });
        trial.cache(bench::Cache::cold);
        trial.clock(std::make_unique<cuda::EventClock>(stream));
        trial.work({.bytes = directions * static_cast<double>(bytes)});
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

template <class T>
void bus_to_device(bench::Trial<T>& trial)
{
    BusArrays<T> on{trial, 1};
    trial.output(cuda::output(on.arriving, on.stream));
    trial.expect([&] { return expected(ceilings::copy_reference<T>(on.sent.span())); });
    trial.add("bus_to_device", [&] { on.to_device(on.stream); });
    trial.run();
}

template <class T>
void bus_to_host(bench::Trial<T>& trial)
{
    BusArrays<T> on{trial, 1};
    trial.output(cuda::output(on.received, on.stream));
    trial.expect([&] { return expected(ceilings::copy_reference<T>(on.sent.span())); });
    trial.add("bus_to_host", [&] { on.to_host(on.stream); });
    trial.run();
}

/// Both directions at once, each in a stream of its own.
template <class T>
void bus_both(bench::Trial<T>& trial)
{
    BusArrays<T> on{trial, 2};
    cuda::Stream back;
    cuda::Event begun;
    cuda::Event arrived;
    trial.output(cuda::output(on.arriving, on.stream));
    trial.output(cuda::output(on.received, on.stream));
    trial.expect([&] {
        auto once = expected(ceilings::copy_reference<T>(on.sent.span()));
        auto twice = once;
        twice.value.insert(twice.value.end(), once.value.begin(), once.value.end());
        twice.bound.insert(twice.bound.end(), once.bound.begin(), once.bound.end());
        return twice;
    });
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
    trial.add("bus_both", both);
    trial.run();
}

/// Leaves the point if this process is not the one that measures a GPU.
template <class T>
void require_device(bench::Trial<T>& trial)
{
    if (auto const missing = cuda::missing_device(); !missing.empty()) {
        trial.not_applicable(missing);
    }
    if (!trial.is_first_process()) {
        trial.not_applicable("a GPU does not care for threads: measured in the first launch");
    }
}

} // namespace

void add_device_ceilings(bench::Experiment& experiment)
{
    if (!cuda::missing_device().empty()) {
        return;
    }
    constexpr bool once = true;
    experiment.library("cuda-runtime", cuda::runtime_version());
    experiment.ceiling([](int) { return ceilings::DeviceRead{}; }, once);
    experiment.ceiling([](int) { return ceilings::DeviceL2{}; }, once);
    experiment.ceiling([](int) { return ceilings::DeviceCopy{}; }, once);
    experiment.ceiling([](int) { return ceilings::DeviceFma<float>{}; }, once);
    experiment.ceiling([](int) { return ceilings::DeviceFma<double>{}; }, once);
    for (auto const direction : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost}) {
        experiment.ceiling([=](int) { return ceilings::Bus{direction}; }, once);
    }
}

template <class T>
void measure_on_device(std::string const& kernel, bench::Trial<T>& trial)
{
    static std::map<std::string, void (*)(bench::Trial<T>&)> const kernels{
        {"device_read", device_read<T>},
        {"device_gather", device_gather<T>},
        {"device_copy", device_copy<T>},
        {"device_shared", device_shared<T>},
        {"device_fma", device_fma<T>},
        {"device_take", device_take<T>},
        {"launch_and_wait", launch_and_wait<T>},
        {"launch_between_events", launch_between_events<T>},
        {"launch_in_queue", launch_in_queue<T>},
        {"launch_in_graph", launch_in_graph<T>},
        {"bus_to_device", bus_to_device<T>},
        {"bus_to_host", bus_to_host<T>},
        {"bus_both", bus_both<T>}};
    require_device(trial);
    kernels.at(kernel)(trial);
}

template void measure_on_device(std::string const&, bench::Trial<float>&);
template void measure_on_device(std::string const&, bench::Trial<double>&);

} // namespace machine_ceilings
