#include "ceilings/device_probes.hpp"

#include "ceilings/device_kernels.hpp"
#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/pinned.hpp"

#include <algorithm>
#include <cuda_runtime_api.h>
#include <memory>
#include <vector>

namespace ceilings {

namespace {

/// Of an array of so many bytes, all zero.
std::shared_ptr<cuda::Buffer<double>> zeros(std::size_t bytes)
{
    auto const array = std::make_shared<cuda::Buffer<double>>(bytes / sizeof(double));
    cuda::check(cudaMemset(array->data(), 0, array->bytes()));
    return array;
}

/// Bandwidth of reading a table of some bytes, a power of two: `device_read`.
bench::Ceiling table_read(char const* name, std::size_t table_bytes, cuda::Gpu& gpu)
{
    constexpr unsigned steps = 1024; // a pass is long beside the gap between its events
    auto const table = zeros(table_bytes);
    auto const sums = std::make_shared<cuda::Buffer<double>>(device_blocks());
    auto const& stream = gpu.stream();
    return {name, {.bytes = device_blocks() * device_read_bytes(steps)}, [=, &stream] {
                device_read<double>(table->span(), steps, sums->span(), stream);
            }};
}

bench::Ceiling bus(char const* name, cudaMemcpyKind direction, cuda::Gpu& gpu)
{
    constexpr std::size_t bytes = std::size_t{64} << 20;
    auto const on_host = std::make_shared<cuda::Pinned<double>>(bytes / sizeof(double));
    auto const on_device = zeros(bytes);
    std::ranges::fill(on_host->span(), 0.0);
    void* from = on_host->span().data();
    void* to = on_device->data();
    if (direction == cudaMemcpyDeviceToHost) {
        std::swap(from, to);
    }
    auto const& stream = gpu.stream();
    return {name, {.bytes = static_cast<double>(bytes)}, [=, &stream] {
                static_cast<void>(on_host), static_cast<void>(on_device); // kept alive
                cuda::check(cudaMemcpyAsync(to, from, bytes, direction, stream.get()));
            }};
}

} // namespace

bench::Ceiling device_read(cuda::Gpu& gpu)
{
    gpu.stream(); // the device is chosen
    return table_read("device_read", beyond_l2(), gpu);
}

bench::Ceiling device_l2(cuda::Gpu& gpu)
{
    gpu.stream();
    return table_read("device_l2", within_l2(), gpu);
}

bench::Ceiling device_copy(cuda::Gpu& gpu)
{
    auto const& stream = gpu.stream();
    auto const a = zeros(beyond_l2());
    auto const b = zeros(beyond_l2());
    return {"device_copy", {.bytes = 2.0 * static_cast<double>(a->bytes())}, [=, &stream] {
                device_copy<double>(a->span(), b->span(), stream);
            }};
}

template <class T>
bench::Ceiling device_fma(cuda::Gpu& gpu)
{
    auto const& stream = gpu.stream();
    auto const start = std::make_shared<cuda::Buffer<T>>(std::vector<T>(device_chains));
    auto const sums =
        std::make_shared<cuda::Buffer<T>>(std::size_t{device_blocks()} * device_threads);
    return {sizeof(T) == sizeof(float) ? "device_fma_fp32" : "device_fma_fp64",
            {.flops = device_fma_flops * static_cast<double>(sums->size())},
            [=, &stream] { device_fma<T>(start->span(), T{1}, T{1}, sums->span(), stream); }};
}

template bench::Ceiling device_fma<float>(cuda::Gpu&);
template bench::Ceiling device_fma<double>(cuda::Gpu&);

bench::Ceiling bus_to_device(cuda::Gpu& gpu)
{
    gpu.stream();
    return bus("bus_to_device", cudaMemcpyHostToDevice, gpu);
}

bench::Ceiling bus_to_host(cuda::Gpu& gpu)
{
    gpu.stream();
    return bus("bus_to_host", cudaMemcpyDeviceToHost, gpu);
}

} // namespace ceilings
