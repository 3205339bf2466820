#include "cuda/buffer.hpp"
#include "cuda/cache_flush.hpp"
#include "cuda/clock.hpp"
#include "cuda/device.hpp"
#include "cuda/event.hpp"
#include "cuda/graph.hpp"
#include "cuda/output.hpp"
#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<double> counted(std::size_t size)
{
    std::vector<double> values(size);
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

/// Copies inside the device: the simplest work that can be captured and whose result shows.
void copy(cuda::Buffer<double> const& from, cuda::Buffer<double>& to, cuda::Stream const& stream)
{
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice,
                                stream.get()));
}

} // namespace

TEST_CASE("an error names the call's error and its place")
{
    try {
        cuda::check(cudaErrorInvalidValue);
        FAIL("nothing was thrown");
    } catch (cuda::Error const& error) {
        std::string const text{error.what()};
        CHECK(error.code() == cudaErrorInvalidValue);
        CHECK(text.starts_with("cudaErrorInvalidValue: "));
        CHECK(text.find("(cuda_test.cpp:") != std::string::npos);
    }
    CHECK_NOTHROW(cuda::check(cudaSuccess));
}

TEST_CASE("what is uploaded comes back, of any size")
{
    for (std::size_t const size : {0, 1, 31, 33, 4097, 1 << 20}) {
        CAPTURE(size);
        auto const host = counted(size);
        cuda::Buffer<double> buffer{host};
        CHECK(buffer.size() == size);
        CHECK(buffer.bytes() == size * sizeof(double));
        CHECK(buffer.download() == host);
        auto moved = std::move(buffer);
        CHECK(moved.download() == host);
    }
}

TEST_CASE("a buffer takes only arrays of its size, and no more than there is")
{
    cuda::Buffer<double> buffer{3};
    CHECK_THROWS_AS(buffer.upload(counted(4)), std::invalid_argument);
    CHECK_THROWS_AS(cuda::Buffer<double>{std::size_t{1} << 58}, cuda::Error);
    cuda::check_launch(); // the error was taken with it
}

TEST_CASE("downloads wait for the work of a stream")
{
    cuda::Stream const stream;
    auto const host = counted(1 << 20);
    cuda::Buffer<double> const from{host};
    cuda::Buffer<double> to{host.size()};
    copy(from, to, stream);
    CHECK(to.download() == host);
}

TEST_CASE("a stream waits for an event of another")
{
    cuda::Stream first;
    cuda::Stream second;
    cuda::Event copied;
    auto const host = counted(1 << 20);
    cuda::Buffer<double> const a{host};
    cuda::Buffer<double> b{host.size()};
    cuda::Buffer<double> c{host.size()};
    copy(a, b, first);
    copied.record(first);
    second.wait_for(copied);
    copy(b, c, second);
    second.synchronize();
    CHECK(c.download() == host);
}

TEST_CASE("events are ordered in time")
{
    cuda::Stream const stream;
    cuda::Event start;
    cuda::Event stop;
    cuda::Buffer<double> const from{counted(1 << 20)};
    cuda::Buffer<double> to{from.size()};
    start.record(stream);
    copy(from, to, stream);
    stop.record(stream);
    stop.synchronize();
    CHECK(stop.seconds_since(start) > 0);
}

TEST_CASE("a captured graph does nothing until it is replayed, then everything each time")
{
    cuda::Stream const stream;
    cuda::Buffer<double> const from{counted(100)};
    cuda::Buffer<double> to{std::vector<double>(100, -1.0)};
    cuda::Graph const graph{stream, [&] { copy(from, to, stream); }, 3};
    stream.synchronize();
    CHECK(to.download() == std::vector<double>(100, -1.0));
    for (int replay = 0; replay < 2; ++replay) {
        to.upload(std::vector<double>(100, -1.0));
        graph.replay(stream);
        stream.synchronize();
        CHECK(to.download() == from.download());
    }
}

TEST_CASE("a capture that throws leaves the stream usable")
{
    cuda::Stream const stream;
    auto const broken = [&] { cuda::Graph{stream, [] { throw std::runtime_error{"broken"}; }}; };
    CHECK_THROWS_WITH(broken(), "broken");
    cuda::Buffer<double> const from{counted(10)};
    cuda::Buffer<double> to{10};
    copy(from, to, stream);
    stream.synchronize();
    CHECK(to.download() == from.download());
}

TEST_CASE("both clocks execute a batch once, and take more time for more work")
{
    cuda::Stream const stream;
    auto const host = counted(1 << 22);
    cuda::Buffer<double> const from{host};
    cuda::Buffer<double> to{host.size()};
    cuda::EventClock events{stream};
    cuda::GraphClock graph{stream};
    CHECK(events.name() == "cuda-event");
    CHECK(graph.name() == "cuda-graph");
    for (bench::Clock* clock :
         {static_cast<bench::Clock*>(&events), static_cast<bench::Clock*>(&graph)}) {
        CAPTURE(clock->name());
        int issued = 0;
        to.upload(std::vector<double>(host.size()));
        auto const once = clock->seconds([&] {
            ++issued;
            copy(from, to, stream);
        });
        CHECK(issued == 1);
        CHECK(to.download() == host);
        CHECK(once > 0);
        auto const often = clock->seconds([&] {
            for (int i = 0; i < 100; ++i) {
                copy(from, to, stream);
            }
        });
        CHECK(often > once);
    }
}

TEST_CASE("a setup may wait and allocate under either clock")
{
    cuda::Stream const stream;
    cuda::EventClock events{stream};
    cuda::GraphClock graph{stream};
    for (bench::Clock* clock :
         {static_cast<bench::Clock*>(&events), static_cast<bench::Clock*>(&graph)}) {
        std::vector<double> back;
        auto const seconds = clock->setup_seconds([&] {
            cuda::Buffer<double> const buffer{counted(1000)};
            stream.synchronize();
            back = buffer.download();
        });
        CHECK(back == counted(1000));
        CHECK(seconds > 0);
    }
}

TEST_CASE_TEMPLATE("the poison is NaN in every element", T, float, double)
{
    cuda::Stream const stream;
    cuda::Buffer<T> values{std::vector<T>(1000, T{1})};
    auto const output = cuda::output(values, stream);
    std::vector<double> fetched{3.0};
    output->fetch(fetched);
    CHECK(fetched == std::vector<double>(1000, 1.0));
    output->poison();
    output->fetch(fetched);
    CHECK(fetched.size() == 1000);
    CHECK(std::ranges::all_of(fetched, [](double value) { return std::isnan(value); }));
}

TEST_CASE("a flush runs in its stream, again and again")
{
    CHECK(cuda::multiprocessors() > 0);
    CHECK(cuda::runtime_version().find('.') != std::string::npos);
    cuda::Stream const stream;
    cuda::CacheFlush flush{stream};
    flush();
    flush();
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("what the device writes to the host is waited for")
{
    constexpr std::size_t size = std::size_t{1} << 23; // a copy of it takes a millisecond
    cuda::Stream const stream;
    cuda::Pinned<double> to{size};
    cuda::Buffer<double> const from{std::vector<double>(size, 4.0)};
    auto const copy = [&] {
        cuda::check(cudaMemcpyAsync(to.span().data(), from.data(), from.bytes(),
                                    cudaMemcpyDeviceToHost, stream.get()));
    };
    auto const output = cuda::output(to, stream);
    std::vector<double> fetched(size); // no new memory delays the reading
    for (int call = 0; call < 3; ++call) {
        copy();
        output->poison(); // not overwritten by the copy before it
        CHECK(std::ranges::all_of(to.span(), [](double value) { return std::isnan(value); }));
        copy();
        output->fetch(fetched);
        CHECK(std::ranges::all_of(fetched, [](double value) { return value == 4.0; }));
    }
}

TEST_CASE("pinned memory is read and written by the device")
{
    cuda::Stream const stream;
    cuda::Pinned<std::uint32_t> to{5};
    cuda::Buffer<std::uint32_t> const from{std::vector<std::uint32_t>{4, 8, 15, 16, 23}};
    cuda::check(cudaMemcpyAsync(to.span().data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost,
                                stream.get()));
    stream.synchronize();
    CHECK(std::ranges::equal(to.span(), from.download()));
}
