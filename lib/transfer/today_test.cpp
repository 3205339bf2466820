#include "transfer/today.hpp"

#include "cuda/gpu.hpp"
#include "transfer/held_clock.hpp"
#include "transfer/testing/arrays.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using transfer::testing::counted;
using transfer::testing::Locked;

TEST_CASE("a clock that holds its stream measures, lets go when a batch throws, and holds again")
{
    cuda::Gpu gpu;
    auto const& stream = gpu.stream();
    transfer::HeldClock clock{stream};
    Locked const host{counted(1 << 20)};
    cuda::Buffer<float> device{host.span.size()};
    auto const copy = [&] {
        cuda::check(cudaMemcpyAsync(device.data(), host.span.data(), device.bytes(),
                                    cudaMemcpyHostToDevice, stream.get()));
    };
    CHECK(clock.seconds(copy) > 0);
    CHECK_THROWS(clock.seconds([] { throw std::runtime_error{"no"}; }));
    stream.synchronize();
    CHECK(clock.seconds(copy) > 0);
    CHECK(clock.setup_seconds([&] { stream.synchronize(); }) > 0);
    CHECK(device.download() == host.values());
}

TEST_CASE("copies in one call are those one by one")
{
    if (auto const why = transfer::missing_batches(); !why.empty()) {
        MESSAGE(why);
        return;
    }
    cuda::Stream const stream;
    Locked const host{counted(1000)};
    // Not bare memory: initcheck does not see what such a call writes.
    cuda::Buffer<float> device{std::span<float const>{std::vector<float>(1000, -1.0F)}};
    transfer::Batch batch;
    for (std::size_t first = 0; first < 1000; first += 100) {
        batch.from.push_back(host.span.data() + first);
        batch.to.push_back(device.data() + first);
        batch.bytes.push_back(400);
    }
    transfer::copy_batch(batch, stream);
    stream.synchronize();
    CHECK(device.download() == host.values());
}
