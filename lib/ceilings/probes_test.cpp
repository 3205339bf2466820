#include "ceilings/probes.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace {

constexpr std::size_t small_cache = 4096;

} // namespace

TEST_CASE("bandwidth probes count their arrays, each four caches large")
{
    for (int threads = 1; threads <= 4; ++threads) {
        CHECK(ceilings::read_beyond(small_cache, threads).work.bytes == 2 * 4 * small_cache);
        CHECK(ceilings::copy_beyond(small_cache, threads).work.bytes == 2 * 4 * small_cache);
        CHECK(ceilings::triad_beyond(small_cache, threads).work.bytes == 3 * 4 * small_cache);
        CHECK(ceilings::triad_beyond(small_cache, threads).work.flops == 0);
    }
}

TEST_CASE("arrays of probes are four caches large, up to half a gigabyte and beyond that together")
{
    constexpr std::size_t mebi = 1 << 20;
    for (std::size_t const arrays : {2, 3}) {
        std::size_t before = 0;
        for (std::size_t cache = mebi / 2; cache <= 2048 * mebi; cache += mebi / 2) {
            auto const bytes = sizeof(double) * ceilings::beyond_cache<double>(cache, arrays);
            CHECK(bytes <= 4 * cache);
            CHECK(bytes * arrays >= 4 * cache - sizeof(double) * arrays);
            CHECK((bytes == 4 * cache || bytes >= 512 * mebi));
            CHECK(bytes >= before);
            before = bytes;
        }
    }
    CHECK(ceilings::beyond_cache<double>(300 * mebi, 2) == 600 * mebi / sizeof(double));
    CHECK(ceilings::beyond_cache<double>(300 * mebi, 3) == 512 * mebi / sizeof(double));
}

TEST_CASE("arithmetic probes count two operations a step")
{
    CHECK(ceilings::fma<float>(3).work.flops == 3 * ceilings::fma<float>(1).work.flops);
    CHECK(ceilings::fma<float>(1).work.flops == 2 * ceilings::fma<double>(1).work.flops);
    CHECK(ceilings::fma<double>(1).work.bytes == 0);
    CHECK(ceilings::fma<float>(1).name == "fma_fp32");
    CHECK(ceilings::fma<double>(1).name == "fma_fp64");
}

TEST_CASE("probes survive a move and pass again")
{
    auto const passes_twice = [](bench::Ceiling probe) {
        auto const moved = std::move(probe);
        moved.pass();
        moved.pass();
        CHECK(moved.work.bytes + moved.work.flops > 0);
    };
    passes_twice(ceilings::read_beyond(small_cache, 2));
    passes_twice(ceilings::copy_beyond(small_cache, 2));
    passes_twice(ceilings::triad_beyond(small_cache, 2));
    passes_twice(ceilings::fma<float>(2));
    passes_twice(ceilings::fma<double>(2));
}
