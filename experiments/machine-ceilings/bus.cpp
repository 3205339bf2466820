#include "device_studies.hpp"

#include "ceilings/reference.hpp"
#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace machine_ceilings {

namespace {

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

} // namespace

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

} // namespace machine_ceilings
