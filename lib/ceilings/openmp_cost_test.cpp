#include "ceilings/openmp_cost.hpp"

#include <doctest/doctest.h>

#include <algorithm>

TEST_CASE("every thread takes part in every region and barrier")
{
    for (int threads = 1; threads <= 4; ++threads) {
        for (std::uint64_t const rounds : {0, 1, 50}) {
            for (auto const cost : {ceilings::parallel_regions, ceilings::barriers}) {
                auto const counts = cost(threads, rounds);
                CHECK(counts.size() == static_cast<std::size_t>(threads));
                CHECK(std::ranges::all_of(counts, [&](auto count) { return count == rounds; }));
            }
        }
    }
}
