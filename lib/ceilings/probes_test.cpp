#include "ceilings/probes.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace {

constexpr std::size_t small_cache = 4096;

} // namespace

TEST_CASE("bandwidth probes count their arrays, each four caches large")
{
    for (int threads = 1; threads <= 4; ++threads) {
        CHECK(ceilings::Read{threads, small_cache}.bytes == 2 * 4 * small_cache);
        CHECK(ceilings::Copy{threads, small_cache}.bytes == 2 * 4 * small_cache);
        CHECK(ceilings::Triad{threads, small_cache}.bytes == 3 * 4 * small_cache);
        CHECK(ceilings::Triad{threads, small_cache}.flops == 0);
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
    CHECK(ceilings::Fma<float>{3}.flops == 3 * ceilings::Fma<float>{1}.flops);
    CHECK(ceilings::Fma<float>{1}.flops == 2 * ceilings::Fma<double>{1}.flops);
    CHECK(ceilings::Fma<double>{1}.bytes == 0);
    CHECK(ceilings::Fma<float>{1}.name == "fma_fp32");
    CHECK(ceilings::Fma<double>{1}.name == "fma_fp64");
}

TEST_CASE("probes survive a move and pass again")
{
    auto const passes_twice = [](auto probe) {
        auto moved = std::move(probe);
        moved.pass();
        moved.pass();
        CHECK(moved.bytes + moved.flops > 0);
    };
    passes_twice(ceilings::Read{2, small_cache});
    passes_twice(ceilings::Copy{2, small_cache});
    passes_twice(ceilings::Triad{2, small_cache});
    passes_twice(ceilings::Fma<float>{2});
    passes_twice(ceilings::Fma<double>{2});
}
