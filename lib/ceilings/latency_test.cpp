#include "ceilings/latency.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

TEST_CASE("a chase goes as far as it is told, through every line once in each cycle")
{
    for (std::size_t const bytes : {0, 1, 128, 192, 1000, 64 * 1024}) {
        ceilings::PointerChase chase{bytes};
        auto const lines = chase.lines();
        CAPTURE(bytes);
        CHECK(lines == std::max<std::size_t>(2, bytes / 64));
        CHECK(chase.bytes() == 64 * lines);
        for (auto const steps : {std::size_t{0}, std::size_t{1}, lines - 1, lines, 3 * lines + 1}) {
            CHECK(chase.follow(steps) == steps);
        }
    }
}

TEST_CASE("a moved chase goes on")
{
    ceilings::PointerChase chase{1024};
    auto moved = std::move(chase);
    CHECK(moved.follow(17) == 17);
}
