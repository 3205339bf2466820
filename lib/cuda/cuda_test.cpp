#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/gpu.hpp"
#include "cuda/graph.hpp"
#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"
#include "cuda/workspace.hpp"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
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

TEST_CASE("a workspace is there for the work of a stream, in a graph too")
{
    cuda::Stream const stream;
    cuda::Buffer<double> const from{counted(1000)};
    cuda::Buffer<double> to{1000};
    auto const by_way_of_workspace = [&] {
        cuda::Workspace const room{from.bytes(), stream};
        CHECK(reinterpret_cast<std::uintptr_t>(room.data()) % 256 == 0);
        for (auto const& [target, source] :
             {std::pair<void*, void const*>{room.data(), from.data()}, {to.data(), room.data()}}) {
            cuda::check(cudaMemcpyAsync(target, source, from.bytes(), cudaMemcpyDeviceToDevice,
                                        stream.get()));
        }
    };
    auto const arrives = [&](auto const& issue) {
        to.upload(std::vector<double>(1000, -1.0));
        issue();
        stream.synchronize();
        CHECK(to.download() == from.download());
    };
    arrives(by_way_of_workspace); // which gave it back before the copies were made
    cuda::Graph const graph{stream, by_way_of_workspace, 2};
    arrives([&] { graph.replay(stream); });
    arrives([&] { graph.replay(stream); });
    CHECK(cuda::Workspace{0, stream}.data() == nullptr);
    CHECK_THROWS_AS((cuda::Workspace{std::size_t{1} << 60, stream}), cuda::Error);
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

TEST_CASE("a GPU as a target: memory comes back, poison is everywhere, flushing ends")
{
    cuda::Gpu gpu;
    CHECK(gpu.missing() == "");
    CHECK(gpu.name() == "cuda");
    CHECK(gpu.cache_bytes() > 0);
    CHECK(!gpu.depends_on_threads());
    constexpr std::size_t bytes = 12'345;
    auto const memory = gpu.allocate(bytes);
    bench::Bytes const device{memory.get(), bytes};
    std::vector<std::byte> host(bytes, std::byte{7});
    std::vector<std::byte> back(bytes);
    gpu.upload(device, host);
    gpu.fetch(back, device);
    gpu.finish();
    CHECK(back == host);
    gpu.poison(device, 0xff);
    gpu.fetch(back, device);
    gpu.finish();
    CHECK(back == std::vector<std::byte>(bytes, std::byte{0xff}));
    gpu.flush();
    gpu.flush();
    CHECK_NOTHROW(gpu.finish());
}

TEST_CASE("work of several streams begins behind the first stream's and ends before its next")
{
    cuda::Gpu gpu;
    auto const host = counted(1 << 20);
    cuda::Buffer<double> const a{host};
    std::vector<cuda::Buffer<double>> copies;
    for (int i = 0; i < 3; ++i) {
        copies.emplace_back(host.size());
    }
    cuda::Buffer<double> first{host.size()};
    cuda::Buffer<double> last{host.size()};
    for (auto* const clock :
         std::initializer_list<bench::Clock*>{&gpu.events(), &gpu.graph(), &gpu.wall()}) {
        CAPTURE(clock->name());
        first.upload(std::vector<double>(host.size()));
        last.upload(std::vector<double>(host.size()));
        auto const seconds = clock->seconds([&] {
            copy(a, first, gpu.stream());
            gpu.forked(copies.size(), [&](std::span<cuda::Stream const> streams) {
                for (std::size_t i = 0; i < streams.size(); ++i) {
                    copy(first, copies[i], streams[i]);
                }
            });
            copy(copies.back(), last, gpu.stream());
        });
        CHECK(seconds > 0);
        CHECK(last.download() == host);
    }
}

TEST_CASE("a timeline tells what lies when in the timed call")
{
    cuda::Gpu gpu;
    cuda::Timeline timeline{gpu};
    cuda::Buffer<double> const from{counted(1 << 22)};
    cuda::Buffer<double> to{from.size()};
    for (int call = 0; call < 2; ++call) {
        auto const seconds = gpu.events().seconds([&] {
            timeline.begin();
            for (auto const* name : {"first", "second"}) {
                timeline.span("copies", name, gpu.stream(), [&] { copy(from, to, gpu.stream()); });
            }
        });
        auto const spans = timeline.spans();
        REQUIRE(spans.size() == 2);
        CHECK(spans[0].lane == "copies");
        CHECK(spans[1].name == "second");
        CHECK(spans[0].begin_s >= 0);
        CHECK(spans[0].begin_s < spans[0].end_s);
        CHECK(spans[0].end_s <= spans[1].begin_s + 1e-6);
        CHECK(spans[1].end_s <= seconds + 1e-6);
    }
}

TEST_CASE("locked pages are those of the host, and may be locked twice")
{
    cuda::Gpu gpu;
    std::vector<double> host = counted(100'000);
    auto const once = gpu.pin(std::as_bytes(std::span{host}));
    auto const twice = gpu.pin(std::as_bytes(std::span{host}));
    CHECK(once == twice);
    CHECK(gpu.pin({}) == nullptr);
    auto const memory = gpu.allocate(host.size() * sizeof(double));
    bench::Bytes const device{memory.get(), host.size() * sizeof(double)};
    std::vector<double> back(host.size());
    gpu.upload(device, std::as_bytes(std::span{host}));
    gpu.fetch(std::as_writable_bytes(std::span{back}), device);
    gpu.finish();
    CHECK(back == host);
}

TEST_CASE("a flush runs in its stream, again and again")
{
    CHECK(cuda::multiprocessors() > 0);
    CHECK(cuda::resident_threads() % (32 * std::int64_t{cuda::multiprocessors()}) == 0);
    CHECK(cuda::runtime_version().find('.') != std::string::npos);
    cuda::Stream const stream;
    auto const flush = cuda::cache_flush(stream);
    flush();
    flush();
    CHECK_NOTHROW(stream.synchronize());
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
