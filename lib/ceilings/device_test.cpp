#include "ceilings/device_kernels.hpp"
#include "ceilings/device_probes.hpp"

#include "cuda/buffer.hpp"
#include "cuda/device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr unsigned blocks = 5;

/// Integers of magnitude 1 to 3, or reals below 1.
template <class T>
std::vector<T> values(std::size_t count, bool integers)
{
    std::mt19937_64 random{count};
    std::uniform_int_distribution<int> digit{1, 3};
    std::uniform_real_distribution<T> real{-1, 1};
    std::vector<T> filled(count);
    std::ranges::generate(filled, [&] {
        auto const sign = (random() & 1) != 0 ? 1 : -1;
        return integers ? static_cast<T>(sign * digit(random)) : real(random);
    });
    return filled;
}

/// Every element within the reference's bound; integers exactly.
template <class T>
bool agrees(cuda::Buffer<T> const& sums, ceilings::Expected const& expected, bool exact)
{
    auto const found = sums.download();
    if (found.size() != expected.value.size()) {
        return false;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        auto const error = std::abs(static_cast<double>(found[i]) - expected.value[i]);
        if (!(error <= (exact ? 0 : expected.bound[i]))) {
            return false;
        }
    }
    return true;
}

/// `count` elements that a kernel has not written yet.
template <class T>
cuda::Buffer<T> unwritten(std::size_t count)
{
    return cuda::Buffer<T>{std::vector<T>(count, T{-77})};
}

template <class T>
cuda::Buffer<T> repeated(std::vector<T> const& x, std::size_t count, cuda::Stream const& stream)
{
    cuda::Buffer<T> const once{x};
    auto table = unwritten<T>(count);
    ceilings::device_repeat<T>(once.span(), table.span(), stream);
    stream.synchronize();
    return table;
}

} // namespace

TEST_CASE_TEMPLATE("copies of any length", T, float, double)
{
    cuda::Stream const stream;
    for (std::size_t const count : {0, 1, 2, 3, 4, 5, 1023, 1024, 4095, 4097, 8191, 100'003}) {
        CAPTURE(count);
        auto const host = values<T>(count, false);
        cuda::Buffer<T> const a{host};
        auto b = unwritten<T>(count);
        ceilings::device_copy<T>(a.span(), b.span(), stream);
        CHECK(b.download() == host);
    }
}

TEST_CASE_TEMPLATE("a table repeats its values", T, float, double)
{
    cuda::Stream const stream;
    auto const x = values<T>(ceilings::period, true);
    auto const table = repeated(x, 1 << 12, stream).download();
    for (std::size_t i = 0; i < table.size(); ++i) {
        REQUIRE(table[i] == x[i % ceilings::period]);
    }
}

TEST_CASE_TEMPLATE("reading and gathering do not depend on the size of the table", T, float, double)
{
    cuda::Stream const stream;
    for (bool const integers : {true, false}) {
        for (unsigned const steps : {4U, 64U}) {
            auto const x = values<T>(ceilings::period, integers);
            auto const read = ceilings::device_read_reference<T>(x, blocks, steps);
            auto const gathered = ceilings::device_gather_reference<T>(x, blocks, steps);
            for (std::size_t const bytes :
                 {std::size_t{1} << 12, std::size_t{1} << 16, std::size_t{1} << 22}) {
                CAPTURE(bytes);
                auto const table = repeated(x, bytes / sizeof(T), stream);
                auto sums = unwritten<T>(blocks);
                ceilings::device_read<T>(table.span(), steps, sums.span(), stream);
                CHECK(agrees(sums, read, integers));
                sums = unwritten<T>(blocks);
                ceilings::device_gather<T>(table.span(), steps, sums.span(), stream);
                CHECK(agrees(sums, gathered, integers));
            }
        }
    }
}

TEST_CASE_TEMPLATE("shared memory gives every word equally often", T, float, double)
{
    cuda::Stream const stream;
    for (bool const integers : {true, false}) {
        auto const x = values<T>(ceilings::shared_words, integers);
        cuda::Buffer<T> const words{x};
        for (bool const is_wide : {false, true}) {
            for (unsigned const steps : {4096U, 8192U}) {
                auto sums = unwritten<T>(blocks);
                ceilings::device_shared<T>(words.span(), steps, is_wide, sums.span(), stream);
                auto const expected = ceilings::device_shared_reference<T>(x, blocks, steps);
                CHECK(agrees(sums, expected, integers));
            }
        }
    }
}

TEST_CASE_TEMPLATE("every chain multiplies and adds every step", T, float, double)
{
    cuda::Stream const stream;
    constexpr std::size_t count = blocks * ceilings::device_threads;
    for (bool const integers : {true, false}) {
        auto const start = values<T>(ceilings::device_chains, integers);
        auto const factors = values<T>(2, integers);
        cuda::Buffer<T> const chains{start};
        auto sums = unwritten<T>(count);
        ceilings::device_fma<T>(chains.span(), factors[0], factors[1], sums.span(), stream);
        CHECK(agrees(sums, ceilings::device_fma_reference<T>(start, factors[0], factors[1], count),
                     integers));
    }
}

TEST_CASE_TEMPLATE("each number is taken, whatever the chunk", T, float, double)
{
    cuda::Stream const stream;
    cuda::Buffer<unsigned> counter{1};
    for (std::size_t const count : {1, 31, 1000, 65'537}) {
        for (unsigned const chunk : {1U, 3U, 16U, 100U}) {
            auto taken = unwritten<T>(count);
            ceilings::device_take<T>(counter.data(), chunk, taken.span(), stream);
            CHECK(taken.download() == std::vector<T>(count, T{1}));
        }
    }
}

TEST_CASE_TEMPLATE("each launch leaves its mark", T, float, double)
{
    cuda::Stream const stream;
    auto marks = unwritten<T>(100);
    ceilings::device_launches<T>(marks.span(), stream);
    CHECK(marks.download() == std::vector<T>(100, T{1}));
}

TEST_CASE("probes count what they move and take time")
{
    cuda::Gpu gpu;
    for (auto const& make : {ceilings::device_read, ceilings::device_l2, ceilings::device_copy,
                             ceilings::device_fma<float>, ceilings::device_fma<double>,
                             ceilings::bus_to_device, ceilings::bus_to_host}) {
        auto const probe = make(gpu);
        CAPTURE(probe.name);
        CHECK(probe.work.bytes + probe.work.flops > 0);
        CHECK(gpu.events().seconds(probe.pass) > 0);
    }
    CHECK(ceilings::device_blocks() > 0);
    CHECK(ceilings::within_l2() < cuda::l2_bytes());
    CHECK(ceilings::beyond_l2() >= 4 * cuda::l2_bytes());
}
