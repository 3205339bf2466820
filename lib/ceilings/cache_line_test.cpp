#include "ceilings/cache_line.hpp"

#include "bench/team.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

namespace {

/// Two CPUs, or twice the only one.
ceilings::CpuPair some_cpus()
{
    auto const cpus = bench::usable_cpus();
    return {cpus.front(), cpus.back()};
}

} // namespace

TEST_CASE("usable CPUs are ascending and not empty")
{
    auto const cpus = bench::usable_cpus();
    REQUIRE(!cpus.empty());
    CHECK(cpus.front() >= 0);
    CHECK(std::ranges::adjacent_find(cpus, std::ranges::greater_equal{}) == cpus.end());
}

TEST_CASE("pairs are distinct, within the limit, and spread over the CPUs")
{
    CHECK(ceilings::cpu_pairs({}, 10).empty());
    CHECK(ceilings::cpu_pairs({4}, 10).empty());
    CHECK(ceilings::cpu_pairs({4, 9}, 0).empty());
    std::vector<int> cpus;
    for (int count = 2; count <= 70; ++count) {
        cpus.resize(static_cast<std::size_t>(count));
        std::ranges::generate(cpus, [cpu = 0]() mutable { return 2 * cpu++; });
        for (std::size_t const limit : {1, 2, 3, 28, 10000}) {
            auto const pairs = ceilings::cpu_pairs(cpus, limit);
            std::set<std::pair<int, int>> distinct;
            for (auto const& pair : pairs) {
                CHECK(pair.first < pair.second);
                CHECK(std::ranges::binary_search(cpus, pair.first));
                CHECK(std::ranges::binary_search(cpus, pair.second));
                distinct.emplace(pair.first, pair.second);
            }
            CHECK(distinct.size() == pairs.size());
            CHECK(!pairs.empty());
            CHECK(pairs.size() <= limit);
        }
        auto const all = cpus.size() * (cpus.size() - 1) / 2;
        CHECK(ceilings::cpu_pairs(cpus, all).size() == all);
    }
}

TEST_CASE("a line is handed over as often as asked")
{
    for (std::uint64_t const hand_overs : {0, 1, 2, 3, 101}) {
        CHECK(ceilings::hand_over(some_cpus(), hand_overs) == hand_overs);
    }
}

TEST_CASE("both threads count to the end")
{
    for (std::uint64_t const steps : {0, 1, 100000}) {
        for (auto const count : {ceilings::count_in_one_line, ceilings::count_in_two_lines}) {
            auto const [first, second] = count(some_cpus(), steps);
            CHECK(first == steps);
            CHECK(second == steps);
        }
    }
}

TEST_CASE("a CPU that this process may not use is an error, not a hang")
{
    auto const [cpu, other] = some_cpus();
    CHECK_THROWS_AS(ceilings::hand_over({cpu, 1023}, 10), std::system_error);
    CHECK_THROWS_AS(ceilings::hand_over({1023, other}, 10), std::system_error);
}
