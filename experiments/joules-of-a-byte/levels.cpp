#include "studies.hpp"
#include "tables.hpp"

#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/pinned.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace joules {

namespace {

/// What a table holds that was written.
void expect_written(bench::Output<std::int32_t> const& table, bench::Input<std::int32_t> seed)
{
    table.expect(period, [=](std::size_t first, std::span<double> value, std::span<double> bound) {
        auto const from = static_cast<std::uint32_t>(seed.on()[0]);
        for (std::size_t i = 0; i < value.size(); ++i) {
            auto const word = word_written(from, static_cast<std::uint32_t>((first + i) % period));
            value[i] = static_cast<std::int32_t>(word);
            bound[i] = 0;
        }
    });
}

/// Sets up a write of so many steps to a table of so many bytes in memory.
auto writes(std::size_t bytes, bench::Input<std::int32_t> seed, std::uint32_t steps, cuda::Gpu& gpu)
{
    return [=, &gpu](bench::Variant& variant) {
        auto const table = variant.output<std::int32_t>(bytes / sizeof(std::int32_t));
        expect_written(table, seed);
        return [=, &gpu, from = seed.on(gpu), out = table.on(gpu)] {
            write_words(from, steps, out, gpu.stream());
        };
    };
}

auto writes_shared(bench::Input<std::int32_t> seed, std::uint32_t steps, cuda::Gpu& gpu)
{
    return [=, &gpu](bench::Variant& variant) {
        auto const sums = variant.output<std::int32_t>(blocks());
        sums.expect([=] {
            auto const sum = static_cast<std::int32_t>(written_sum(seed.on()[0]));
            return bench::Expected{std::vector<double>(blocks(), sum),
                                   std::vector<double>(blocks(), 0.0)};
        });
        return [=, &gpu, from = seed.on(gpu), out = sums.on(gpu)] {
            write_shared(from, steps, out, gpu.stream());
        };
    };
}

//! [bus]
/// The same bytes over the bus, as often as it takes.
void copy_over_bus(void* to, void const* from, std::size_t bytes, std::size_t times,
                   cudaMemcpyKind way, cuda::Stream const& stream)
{
    for (std::size_t i = 0; i < times; ++i) {
        cuda::check(cudaMemcpyAsync(to, from, bytes, way, stream.get()));
    }
}
//! [bus]

/// Random words in locked memory of the host and on the device, to be copied to where the other
/// one is.
struct Bus
{
    Table const& table;
    bench::Input<std::int32_t> seed;
    std::size_t bytes;
    std::size_t times;
    cuda::Gpu& gpu;
    cuda::Pinned<std::int32_t> sent{bytes / sizeof(std::int32_t)};
    cuda::Pinned<std::int32_t> received{bytes / sizeof(std::int32_t)};

    /// What a table has in the host's memory too.
    void fill()
    {
        cuda::check(cudaMemcpyAsync(sent.span().data(), table.first(bytes).data(), bytes,
                                    cudaMemcpyDeviceToHost, gpu.stream().get()));
        gpu.stream().synchronize();
    }

    void expect_read(bench::Output<std::int32_t> const& copy) const
    {
        copy.expect(period,
                    [from = seed](std::size_t, std::span<double> value, std::span<double> bound) {
                        for (std::size_t i = 0; i < value.size(); ++i) {
                            value[i] = static_cast<std::int32_t>(
                                word_read(Bits::random, static_cast<std::uint32_t>(from.on()[0]),
                                          static_cast<std::uint32_t>(i % period)));
                            bound[i] = 0;
                        }
                    });
    }

    auto to_device()
    {
        return [this](bench::Variant& variant) {
            auto const copy = variant.output<std::int32_t>(bytes / sizeof(std::int32_t));
            expect_read(copy);
            return [this, to = copy.on(gpu).data()] {
                copy_over_bus(to, sent.span().data(), bytes, times, cudaMemcpyHostToDevice,
                              gpu.stream());
            };
        };
    }
    auto to_host()
    {
        return [this](bench::Variant& variant) {
            expect_read(variant.output<std::int32_t>(received.span()));
            return [this] {
                copy_over_bus(received.span().data(), table.first(bytes).data(), bytes, times,
                              cudaMemcpyDeviceToHost, gpu.stream());
            };
        };
    }
};

} // namespace

void levels(bench::Trial& trial, Meter& meter)
{
    meter.begin(trial);
    auto& gpu = meter.gpu();
    constexpr std::size_t written = std::size_t{256} << 20;
    std::uint32_t const steps = trial.is_test() ? 256 : 2048;
    auto const bytes = grid_threads() * steps * std::size_t{16};
    auto const seed = trial.input<std::int32_t>(1);
    Table table{seed, Bits::random, beyond_caches(trial), gpu};
    auto const times = cuda::multiprocessors(); // as the grid grows with them
    Bus bus{table, seed, bytes / times, times, gpu};
    auto const fill = [&] {
        table.fill();
        bus.fill();
    };
    fill();
    trial.on_refill(fill);
    trial.cache(bench::Cache::warm);
    trial.work({.bytes = static_cast<double>(bytes)});
    auto const read = [&](std::string const& name, Level from, std::size_t of) {
        meter(trial.add(name, reads(from, table.first(of), Bits::random, seed, steps, gpu)))
            .group("read")
            .excerpt("read_words");
    };
    read("memory_read", Level::device, beyond_caches(trial));
    read("l2_read", Level::device, within_l2);
    read("l1_read", Level::l1, within_l1);
    read("shared_read", Level::shared, within_l1);
    auto const write = [&](std::string const& name, auto const& setup) {
        meter(trial.add(name, setup)).group("write").excerpt("write_words");
    };
    write("memory_write", writes(trial.is_test() ? within_l2 : written, seed, steps, gpu));
    write("l2_write", writes(within_l2, seed, steps, gpu));
    write("shared_write", writes_shared(seed, steps, gpu));
    meter(trial.add("bus_to_device", bus.to_device())).group("bus").excerpt("bus");
    meter(trial.add("bus_to_host", bus.to_host()))
        .on(gpu, bench::host())
        .group("bus")
        .excerpt("bus");
    add_idle(trial, meter);
    add_spin(trial, meter);
    trial.run();
}

} // namespace joules
