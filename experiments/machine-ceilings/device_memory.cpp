#include "binary_size.hpp"
#include "device_results.hpp"
#include "device_studies.hpp"

#include "ceilings/device_kernels.hpp"
#include "ceilings/device_probes.hpp"
#include "ceilings/reference.hpp"
#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string>

namespace machine_ceilings {

namespace {

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

} // namespace

void device_read(bench::Trial& trial, cuda::Gpu& gpu)
{
    constexpr unsigned steps = 256;
    read_tables<double>(trial, gpu, "device_read", ceilings::device_read,
                        ceilings::device_read_reference, std::size_t{1} << 20, steps,
                        {.bytes = ceilings::device_read_bytes(steps)});
}

template <class T>
void device_gather(bench::Trial& trial, cuda::Gpu& gpu)
{
    constexpr unsigned steps = 64;
    read_tables<T>(trial, gpu, "device_gather", ceilings::device_gather,
                   ceilings::device_gather_reference, std::size_t{1} << 14, steps,
                   {.operations = ceilings::device_gather_count(steps)});
}
template void device_gather<float>(bench::Trial&, cuda::Gpu&);
template void device_gather<double>(bench::Trial&, cuda::Gpu&);

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

} // namespace machine_ceilings
