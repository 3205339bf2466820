#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/gpu.hpp"
#include "cuda/graph.hpp"
#include "cuda/pinned.hpp"
#include "transfer/held_clock.hpp"
#include "transfer/kernels.hpp"
#include "transfer/pipeline.hpp"
#include "transfer/placed.hpp"
#include "transfer/staged_copy.hpp"
#include "transfer/testing/double_rows.hpp"
#include "transfer/today.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

std::vector<float> counted(std::size_t size)
{
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) {
        values[i] = static_cast<float>(i % 9973);
    }
    return values;
}

std::vector<float> doubled(std::span<float const> values)
{
    std::vector<float> twice(values.size());
    std::ranges::transform(values, twice.begin(), [](float value) { return 2 * value; });
    return twice;
}

/// Whether the device still does what it is told.
bool is_usable()
{
    auto const host = counted(1000);
    cuda::Stream const stream;
    cuda::Buffer<float> const from{std::span<float const>{host}};
    cuda::Buffer<float> to{host.size()};
    transfer::copy_by_cores(from.data(), to.data(), host.size(), 4, stream.get());
    stream.synchronize();
    return to.download() == host;
}

void twice(std::span<float const> in, std::span<float> out, std::size_t, cudaStream_t stream)
{
    transfer::testing::double_rows(in.data(), 0, out.data(), 0, in.size(), 1, stream);
}

/// An array in locked pages; of none, as a call with nothing to do has it.
struct Locked
{
    explicit Locked(std::vector<float> const& values)
        : pages{std::max<std::size_t>(1, values.size())}, span{pages.span().first(values.size())}
    {
        std::ranges::copy(values, span.begin());
    }

    std::vector<float> values() const { return {span.begin(), span.end()}; }

    cuda::Pinned<float> pages;
    std::span<float> span;
};

/// The code of the error that `action` throws, or cudaSuccess.
template <class Action>
cudaError_t error_of(Action const& action)
{
    try {
        action();
    } catch (cuda::Error const& error) {
        CHECK(std::string{error.what()}.find(cudaGetErrorName(error.code())) == 0);
        return error.code();
    }
    return cudaSuccess;
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

TEST_CASE("a staged copy moves any number of bytes, from and to any address")
{
    cuda::Stream const stream;
    for (int const threads : {1, 3}) {
        transfer::StagedCopy copy{{.threads = threads, .chunk_bytes = 1000, .chunks = 3}};
        for (std::size_t const bytes : {0, 1, 999, 1000, 1001, 12'345}) {
            CAPTURE(threads);
            CAPTURE(bytes);
            std::vector<char> from(bytes + 1);
            for (std::size_t i = 0; i < from.size(); ++i) {
                from[i] = static_cast<char>(i * i % 251);
            }
            std::vector<char> to(bytes + 1, 'x');
            cuda::Buffer<char> device{bytes + 3};
            copy.to_device(device.data() + 3, from.data() + 1, bytes, stream.get());
            copy.to_host(to.data() + 1, device.data() + 3, bytes, stream.get());
            CHECK(to[0] == 'x');
            CHECK(std::equal(to.begin() + 1, to.end(), from.begin() + 1));
        }
    }
}

TEST_CASE("a staged copy takes its buffer in turns from call to call, whatever their sizes")
{
    cuda::Stream const stream;
    cuda::Stream const other;
    for (auto const stores :
         {transfer::Stores::by_size, transfer::Stores::cached, transfer::Stores::past_caches}) {
        transfer::StagedCopy copy{
            {.threads = 3, .chunk_bytes = std::size_t{1} << 20, .chunks = 2, .stores = stores}};
        auto const values = counted(5'000'000);
        cuda::Buffer<float> device{values.size()};
        std::size_t first = 0;
        for (std::size_t const count : {7, 300'000, 1, 2'600'000, 70'000, 0, 1'200'000, 65'536}) {
            auto const& in = count % 2 == 0 ? stream : other; // copies of both may be under way
            copy.to_device(device.data() + first, values.data() + first, count * sizeof(float),
                           in.get());
            first += count;
        }
        stream.synchronize();
        other.synchronize();
        std::vector<float> back(first);
        std::size_t at = 0;
        for (std::size_t const count : {1'000'000, 3, 2'000'000, 100'000}) {
            copy.to_host(back.data() + at, device.data() + at, count * sizeof(float), other.get());
            at += count;
        }
        copy.to_host(back.data() + at, device.data() + at, (first - at) * sizeof(float),
                     stream.get());
        CHECK(std::ranges::equal(back, std::span{values}.first(first)));
    }
}

TEST_CASE("a staged copy reads the host's memory before it returns")
{
    cuda::Stream const stream;
    transfer::StagedCopy copy{{.threads = 2, .chunk_bytes = 4096, .chunks = 2}};
    auto host = counted(100'000);
    auto const was = host;
    cuda::Buffer<float> device{host.size()};
    copy.to_device(device.data(), host.data(), device.bytes(), stream.get());
    std::ranges::fill(host, -1.0F);
    stream.synchronize();
    CHECK(device.download() == was);
}

TEST_CASE("a staged copy refuses what makes no sense, and what cannot be locked")
{
    CHECK_THROWS_AS((transfer::StagedCopy{{.chunk_bytes = 0}}), std::invalid_argument);
    CHECK_THROWS_AS((transfer::StagedCopy{{.chunks = 0}}), std::invalid_argument);
    CHECK_THROWS_AS((transfer::StagedCopy{{.threads = -1}}), std::invalid_argument);
    auto const half = std::size_t{1} << 32;
    CHECK_THROWS_AS((transfer::StagedCopy{{.chunk_bytes = half, .chunks = half}}),
                    std::invalid_argument); // 0 bytes in all, in 64 bits
    CHECK_THROWS_AS((transfer::StagedCopy{{.threads = 4, .chunks = std::size_t{1} << 62}}),
                    std::invalid_argument);
    CHECK_THROWS_AS((transfer::StagedCopy{{.threads = 1 << 30}}), std::invalid_argument);
    {
        cuda::Stream const stream;
        transfer::StagedCopy copy{{.threads = 2, .chunk_bytes = 4096}};
        std::vector<char> host(100'000);
        cuda::Buffer<char> device{host.size()};
        CHECK_THROWS_AS(copy.to_device(nullptr, host.data(), 1, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_device(device.data(), nullptr, 1, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_host(nullptr, device.data(), 1, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_host(host.data(), host.data() + 50'000, 60'000, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_host(host.data(), device.data(), ~std::size_t{0}, stream.get()),
                        std::invalid_argument);
        copy.to_device(nullptr, nullptr, 0, stream.get());
        copy.to_host(host.data(), host.data(), 0, stream.get());
    }
    transfer::StagedCopyOptions const beyond{.threads = 1, .chunk_bytes = std::size_t{1} << 58};
    CHECK(error_of([&] { transfer::StagedCopy{beyond}; }) != cudaSuccess);
    CHECK(is_usable());
}

TEST_CASE("memory that cannot be locked, or allocated, is an error and nothing else")
{
    auto const most = std::numeric_limits<std::size_t>::max() / 8;
    CHECK(error_of([&] { cuda::Pinned<char>{most}; }) != cudaSuccess);
    CHECK_THROWS_AS(cuda::Pinned<double>{std::size_t{1} << 61}, std::invalid_argument); // 0 bytes
    CHECK_THROWS_AS(cuda::Buffer<double>{std::size_t{1} << 61}, std::invalid_argument);
    CHECK_THROWS_AS(cuda::Buffer<double>{(std::size_t{1} << 61) + 1}, std::invalid_argument);
    CHECK_THROWS_AS(transfer::Managed{std::size_t{1} << 62}, std::invalid_argument);
    cuda::Pinned<double> none{0};
    CHECK(none.span().empty());
    CHECK(none.on_device() == nullptr);
    CHECK_THROWS_AS((cuda::Registered{{static_cast<std::byte const*>(nullptr), 1}}),
                    std::invalid_argument);
    CHECK(error_of([&] { cuda::Buffer<char>{most}; }) == cudaErrorMemoryAllocation);
    CHECK(is_usable());
}

TEST_CASE("pages are registered once, unregistered with their guard, and nothing is no page")
{
    std::vector<float> host = counted(100'000);
    auto const bytes = std::as_writable_bytes(std::span{host});
    for (int time = 0; time < 2; ++time) {
        cuda::Registered const pages{bytes};
        CHECK(error_of([&] { cuda::Registered{bytes}; }) == cudaErrorHostMemoryAlreadyRegistered);
        CHECK(is_usable());
    }
    CHECK_NOTHROW(cuda::Registered{std::span<std::byte>{}});
    CHECK(error_of([] { // an address of the kernel: there is no memory
              cuda::Registered{{reinterpret_cast<std::byte*>(~std::uintptr_t{0xffff}), 4096}};
          }) != cudaSuccess);
    CHECK(is_usable());
    cuda::Registered const odd{bytes.subspan(3, 9001)}; // whole pages around it
    CHECK(is_usable());
}

TEST_CASE("kernels read and write mapped pages over the bus")
{
    cuda::Stream const stream;
    cuda::Pinned<float> from{1024, cudaHostAllocMapped | cudaHostAllocWriteCombined};
    cuda::Pinned<float> to{1024, cudaHostAllocMapped};
    std::ranges::copy(counted(1024), from.span().begin());
    transfer::copy_by_cores(from.on_device(), to.on_device(), 1024, 2, stream.get());
    stream.synchronize();
    CHECK(std::ranges::equal(to.span(), counted(1024)));
}

TEST_CASE("rows are summed and multiplied, one in so many, however long a thread is kept busy")
{
    cuda::Stream const stream;
    constexpr std::size_t columns = 256;
    auto const host = counted(12 * columns);
    cuda::Buffer<float> const x{std::span<float const>{host}};
    for (std::size_t const every : {1, 3, 12}) {
        cuda::Buffer<double> sums{12 / every};
        cuda::Buffer<double> products{12};
        transfer::row_sums(x.data(), columns, every, 5, sums.span(), stream.get());
        transfer::row_products(x.data(), x.data(), columns, products.span(), stream.get());
        stream.synchronize();
        auto const found = sums.download();
        auto const squares = products.download();
        for (std::size_t r = 0; r < found.size(); ++r) {
            auto const row = std::span{host}.subspan(r * every * columns, columns);
            double sum = 0;
            double square = 0;
            for (float const value : row) {
                sum += static_cast<double>(value);
                square += static_cast<double>(value) * static_cast<double>(value);
            }
            CHECK(found[r] == sum);
            CHECK(squares[r * every] == square);
        }
    }
}

TEST_CASE("rows with odd pitches are copied and doubled, and gaps are left alone")
{
    cuda::Stream const stream;
    constexpr std::size_t rows = 5;
    for (std::size_t const width : {1, 7, 33}) {
        std::size_t const host_pitch = 4 * width + 4;
        std::vector<float> host((host_pitch / 4) * rows, -1.0F);
        auto const values = counted(width * rows);
        for (std::size_t r = 0; r < rows; ++r) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(r * width), width,
                        host.begin() + static_cast<std::ptrdiff_t>(r * (width + 1)));
        }
        std::size_t pitch = 0;
        float* x = nullptr;
        cuda::check(cudaMallocPitch(reinterpret_cast<void**>(&x), &pitch, 4 * width, rows));
        CHECK(pitch % 32 == 0);
        cuda::Buffer<float> y{(host_pitch / 4) * rows};
        cuda::check(cudaMemset(y.data(), 0xff, y.bytes()));
        cuda::check(cudaMemcpy2DAsync(x, pitch, host.data(), host_pitch, 4 * width, rows,
                                      cudaMemcpyHostToDevice, stream.get()));
        transfer::testing::double_rows(x, pitch, y.data(), host_pitch, width, rows, stream.get());
        stream.synchronize();
        auto const found = y.download();
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (i % (width + 1) < width) {
                CHECK(found[i] == 2 * host[i]);
            } else {
                CHECK(std::isnan(found[i]));
            }
        }
        // A pitch below the width is refused, and the device is usable afterwards.
        CHECK(error_of([&] {
                  cuda::check(cudaMemcpy2DAsync(x, pitch, host.data(), 4 * width - 1, 4 * width,
                                                rows, cudaMemcpyHostToDevice, stream.get()));
              }) == cudaErrorInvalidPitchValue);
        CHECK(is_usable());
        cuda::check(cudaFree(x));
    }
}

TEST_CASE("the article's kernel makes NaN, and its own check does not see them")
{
    cuda::Stream const stream;
    constexpr std::size_t count = 1000;
    cuda::Buffer<float> const zeros{std::span<float const>{std::vector<float>(count)}};
    cuda::Buffer<float> out{count};
    auto const largest_error = [](std::vector<float> const& values) { // as in the article
        float largest = 0;
        for (float const value : values) {
            auto const error = std::abs(value - 1.0F);
            if (error > largest) {
                largest = error;
            }
        }
        return largest;
    };

    transfer::add_one_by_arcs(zeros.data(), out.data(), 0, count, stream.get());
    stream.synchronize();
    auto const arcs = out.download();
    CHECK(std::ranges::count_if(arcs, [](float value) { return std::isnan(value); }) == count - 2);
    CHECK(largest_error(arcs) == doctest::Approx(1.5708 - 1).epsilon(1e-3)); // of the two others

    transfer::add_one_by_sines(zeros.data(), out.data(), 0, count, stream.get());
    stream.synchronize();
    auto const sines = out.download();
    CHECK(std::ranges::none_of(sines, [](float value) { return std::isnan(value); }));
    CHECK(largest_error(sines) < 1e-5F);
}

TEST_CASE("sums of neighbours are those of the host")
{
    cuda::Stream const stream;
    std::vector<std::int32_t> a(1000);
    std::vector<std::int32_t> b(1000);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<std::int32_t>(i * i % 101);
        b[i] = static_cast<std::int32_t>(i % 17);
    }
    cuda::Buffer<std::int32_t> const x{std::span<std::int32_t const>{a}};
    cuda::Buffer<std::int32_t> const y{std::span<std::int32_t const>{b}};
    cuda::Buffer<std::int32_t> z{a.size()};
    transfer::neighbour_sums(x.data(), y.data(), z.data(), z.size(), 1, stream.get());
    stream.synchronize();
    auto const found = z.download();
    for (std::size_t i = 0; i < found.size(); ++i) {
        auto const j = (i + 1) % 256;
        auto const k = (i + 2) % 256;
        auto const sum = a[i] + a[j] + a[k] + b[i] + b[j] + b[k];
        CHECK(found[i] == static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + 1013904223U));
    }
}

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

TEST_CASE("managed memory is one address for both, and memory of a pool comes and goes")
{
    cuda::Stream const stream;
    if (transfer::missing_managed().empty()) {
        transfer::Managed const memory{1024};
        std::ranges::copy(counted(1024), memory.span().begin());
        memory.bring_to_device(stream);
        transfer::testing::double_rows(memory.span().data(), 0, memory.span().data(), 0, 1024, 1,
                                       stream.get());
        memory.bring_to_host(stream);
        stream.synchronize();
        CHECK(std::ranges::equal(memory.span(), doubled(counted(1024))));
    }
    if (transfer::missing_pools().empty()) {
        for (int time = 0; time < 3; ++time) {
            auto* const memory = transfer::allocate_in(stream, 1 << 20);
            CHECK(memory != nullptr);
            transfer::release_in(stream, memory);
        }
        stream.synchronize();
        CHECK(error_of([&] {
                  transfer::allocate_in(stream, std::numeric_limits<std::size_t>::max() / 8);
              }) == cudaErrorMemoryAllocation);
        CHECK(is_usable());
    }
}

TEST_CASE("memory of a NUMA node is memory, and a node that is not there is an error")
{
    transfer::Placed const memory{10'000, 0};
    memory.span().back() = std::byte{7};
    cuda::Registered const pages{memory.span()};
    CHECK(is_usable());
    for (int const node : {-1, 63, 64, 128, std::numeric_limits<int>::max()}) { // 64 is not 0
        CAPTURE(node);
        CHECK_THROWS_AS((transfer::Placed{10'000, node}), std::system_error);
    }
}
