#include "bench/team.hpp"

#include "machine/limits.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// The environment of each is in meson.build: OpenMP reads it when a program starts.

namespace {

/// The size of a team that says nothing, and of one that asks for two threads.
int size_of_team()
{
    int size = 0;
    int asked = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
#pragma omp parallel num_threads(2)
#pragma omp single
    asked = omp_get_num_threads();
    CHECK(asked == 2);
    return size;
}

} // namespace

TEST_CASE("a team has the threads that were asked for, whatever the environment says")
{
    for (int const threads : {2, 3, 2}) {
        bench::use_threads(threads);
        CHECK(size_of_team() == threads);
    }
    CHECK(bench::available_threads() >= 1);
    CHECK(bench::team_cpus() == bench::usable_cpus());
}

TEST_CASE("a smaller team than was asked for is refused, and the cause named")
{
    bench::use_threads(1);
    CHECK_THROWS_WITH_AS(bench::use_threads(2),
                         "--threads 2: OpenMP gives a team of 1: OMP_THREAD_LIMIT=1",
                         std::runtime_error);
}

TEST_CASE("threads that share a processor are no two processors")
{
    bench::use_threads(2);
    CHECK(bench::team_cpus().size() == 1);
    std::vector<int> left;
    std::jthread{[&] {
        bench::leave_place();
        left = machine::affinity();
    }}.join();
    CHECK(left == bench::usable_cpus());
    CHECK(bench::available_threads() == static_cast<int>(bench::usable_cpus().size()));
}
