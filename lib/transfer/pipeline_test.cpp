#include "transfer/pipeline.hpp"

#include "cuda/graph.hpp"
#include "cuda/pinned.hpp"
#include "transfer/staged_copy.hpp"
#include "transfer/testing/arrays.hpp"
#include "transfer/testing/double_rows.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

using transfer::testing::counted;
using transfer::testing::doubled;
using transfer::testing::error_of;
using transfer::testing::is_usable;
using transfer::testing::Locked;

namespace {

void twice(std::span<float const> in, std::span<float> out, std::size_t, cudaStream_t stream)
{
    transfer::testing::double_rows(in.data(), 0, out.data(), 0, in.size(), 1, stream);
}

} // namespace

TEST_CASE("a pipeline runs the kernel over every element, whatever the chunk")
{
    cuda::Stream const stream;
    for (std::size_t const count : {0, 1, 100, 1001}) {
        for (std::size_t const chunk : {1, 7, 100, 5000}) {
            for (std::size_t const slots : {1, 2, 3}) {
                if (count > 200 * chunk) {
                    continue; // a thousand chunks tell no more
                }
                CAPTURE(count);
                CAPTURE(chunk);
                CAPTURE(slots);
                Locked const in{counted(count)};
                Locked const out{std::vector<float>(count, -1.0F)};
                transfer::Pipeline<float> pipeline{chunk, slots};
                pipeline(in.span, out.span, twice, stream.get());
                pipeline(in.span, out.span, twice, stream.get());
                stream.synchronize();
                CHECK(out.values() == doubled(in.span));
            }
        }
    }
}

TEST_CASE("a pipeline takes host pointers that are aligned to elements only, and tells the place")
{
    cuda::Stream const stream;
    Locked const in{counted(1001)};
    Locked const out{std::vector<float>(1001, -1.0F)};
    std::vector<std::size_t> places;
    transfer::Pipeline<float> pipeline{300};
    pipeline(
        in.span.subspan(1), out.span.subspan(1),
        [&](std::span<float const> x, std::span<float> y, std::size_t first, cudaStream_t lane) {
            places.push_back(first);
            twice(x, y, first, lane);
        },
        stream.get());
    stream.synchronize();
    CHECK(places == std::vector<std::size_t>{0, 300, 600, 900});
    CHECK(out.span[0] == -1.0F);
    CHECK(std::vector<float>{out.span.begin() + 1, out.span.end()} == doubled(in.span.subspan(1)));
}

TEST_CASE("a pipeline comes behind its stream's work, can be captured, and survives its kernel")
{
    cuda::Stream const stream;
    Locked const in{counted(1000)};
    Locked const out{std::vector<float>(1000, -1.0F)};
    transfer::Pipeline<float> pipeline{128};
    cuda::Graph const graph{stream, [&] { pipeline(in.span, out.span, twice, stream.get()); }};
    CHECK(out.span.back() == -1.0F);
    graph.replay(stream);
    stream.synchronize();
    CHECK(out.values() == doubled(in.span));

    auto const fails = [](std::span<float const>, std::span<float>, std::size_t first,
                          cudaStream_t) {
        if (first > 200) {
            throw std::runtime_error{"no more"};
        }
    };
    CHECK_THROWS_WITH(pipeline(in.span, out.span, fails, stream.get()), "no more");
    pipeline(in.span, out.span, twice, stream.get());
    stream.synchronize();
    CHECK(out.values() == doubled(in.span));
}

TEST_CASE("a pipeline refuses what makes no sense")
{
    cuda::Stream const stream;
    CHECK_THROWS_AS((transfer::Pipeline<float>{0}), std::invalid_argument);
    CHECK_THROWS_AS((transfer::Pipeline<float>{1, 0}), std::invalid_argument);
    for (std::size_t const shift : {1, 2, 3, 32, 62, 63}) { // products that leave 64 bits
        CAPTURE(shift);
        CHECK_THROWS_AS((transfer::Pipeline<double>{(std::size_t{1} << shift) + 1,
                                                    std::size_t{1} << (63 - shift)}),
                        std::invalid_argument);
    }
    CHECK_THROWS_AS((transfer::Pipeline<double>{std::size_t{1} << 61}), std::invalid_argument);
    CHECK_THROWS_AS((transfer::Pipeline<char, double>{std::size_t{1} << 61}),
                    std::invalid_argument);
    transfer::Pipeline<float> pipeline{1};
    Locked const two{counted(2)};
    CHECK_THROWS_AS(pipeline(two.span, two.span.first(1), twice, stream.get()),
                    std::invalid_argument);
    auto const beyond = std::size_t{1} << 58; // a size that might be, but not here
    CHECK(error_of([&] { transfer::Pipeline<float>{beyond}; }) == cudaErrorMemoryAllocation);
    CHECK(is_usable());
}

TEST_CASE("a pipeline may work in place, and refuses to write over what it has still to read")
{
    cuda::Stream const stream;
    Locked const both{counted(1001)};
    auto const was = both.values();
    transfer::Pipeline<float> pipeline{100};
    pipeline(both.span, both.span, twice, stream.get());
    stream.synchronize();
    CHECK(both.values() == doubled(was));

    int called = 0;
    auto const counts = [&](auto, auto, std::size_t, cudaStream_t) { ++called; };
    auto const is_refused = [&](std::span<float const> in, std::span<float> out) {
        CHECK_THROWS_AS(pipeline(in, out, counts, stream.get()), std::invalid_argument);
    };
    is_refused(both.span.first(1000), both.span.last(1000)); // by one element
    is_refused(both.span.last(1000), both.span.first(1000));
    is_refused(both.span.first(600), both.span.last(600));
    is_refused({static_cast<float*>(nullptr), 5}, both.span.first(5));
    is_refused(both.span.first(5), {static_cast<float*>(nullptr), 5});
    transfer::Pipeline<float, double> wider{100};
    auto* const wide = reinterpret_cast<double*>(both.span.data());
    CHECK_THROWS_AS(wider(both.span.first(500), {wide, 500}, counts, stream.get()),
                    std::invalid_argument);
    CHECK(called == 0);
    pipeline(both.span.first(500), both.span.subspan(500, 500), twice, stream.get()); // beside it
    pipeline({}, {}, twice, stream.get());
    stream.synchronize();
    CHECK(is_usable());
}

TEST_CASE("arrays that may be written can be read, in vectors, spans and pointers")
{
    cuda::Stream const stream;
    std::vector<float> host = counted(100);
    std::vector<float> const fixed = host;
    cuda::Buffer a{host}; // the type is found out
    cuda::Buffer const b{fixed};
    cuda::Buffer c{std::span{host}};
    cuda::Buffer d{std::span{fixed}};
    cuda::Buffer<float> e{host};
    static_assert(std::is_same_v<decltype(a), decltype(e)>);
    for (auto const* const each :
         std::initializer_list<cuda::Buffer<float> const*>{&a, &b, &c, &d, &e}) {
        CHECK(each->download() == host);
    }
    a.upload(host);
    c.upload(fixed);
    for (bool const may_write : {true, false}) { // one after the other: they may share a page
        cuda::Registered const pages =
            may_write ? cuda::Registered{std::as_writable_bytes(std::span{host})}
                      : cuda::Registered{std::as_bytes(std::span{fixed})};
        CHECK(is_usable());
    }
    transfer::Pipeline<float> pipeline{10};
    std::vector<float> out(100);
    pipeline(host, out, twice, stream.get());
    pipeline(fixed, out, twice, stream.get());
    transfer::StagedCopy copy;
    copy.to_device(a.data(), fixed.data(), a.bytes(), stream.get());
    copy.to_host(out.data(), b.data(), b.bytes(), stream.get());
    CHECK(out == fixed);
}
