#include "bench/processor_time.hpp"

#include <doctest/doctest.h>

#include <sstream>

TEST_CASE("time of processors is read from the line of all of them")
{
    std::istringstream stat{"cpu  100 20 30 4000 50 6 7 800 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"};
    auto const time = bench::read_processor_time(stat, 100);
    REQUIRE(time);
    CHECK(time->busy_s == doctest::Approx(1.63));
    CHECK(time->stolen_s == doctest::Approx(8));
}

TEST_CASE("a kernel that does not tell of processors is no error")
{
    for (auto const* text : {"", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n", "cpu a b\n"}) {
        std::istringstream stat{text};
        CHECK_FALSE(bench::read_processor_time(stat, 100));
    }
}

TEST_CASE("a meter adds up what happens while it runs, and nothing else")
{
    bench::ProcessorMeter meter;
    CHECK_FALSE(meter.total());
    meter.stop();
    CHECK_FALSE(meter.total());
    meter.start();
    meter.stop();
    REQUIRE(meter.total());
    CHECK(meter.total()->busy_s >= 0);
    CHECK(meter.total()->stolen_s >= 0);
}
