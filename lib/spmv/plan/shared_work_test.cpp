#include "spmv/plan/shared_work.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

TEST_CASE("each part is done once, whoever takes it")
{
    for (int const threads : {1, 2, 3, 8}) {
        for (int const shares : {1, 2, 5, 16}) {
            CAPTURE(threads);
            CAPTURE(shares);
            std::vector<int> done(static_cast<std::size_t>(threads * shares));
            auto const body = [&](int part) {
                volatile int work = part % shares == 0 ? 20'000 : 0; // the first are slow
                while (work > 0) {
                    work = work - 1;
                }
                ++done[static_cast<std::size_t>(part)];
            };
            spmv::for_each_part(threads, shares, body);
            CHECK(std::ranges::all_of(done, [](int times) { return times == 1; }));
            // In a parallel region of the caller there is one thread for all of them.
#pragma omp parallel num_threads(2)
#pragma omp single
            spmv::for_each_part(threads, shares, body);
            CHECK(std::ranges::all_of(done, [](int times) { return times == 2; }));
        }
    }
}

TEST_CASE("a thread that is done takes what another one has not begun")
{
    std::atomic<bool> second_is_done = false;
    std::array<int, 4> thread = {};
    int team = 1;
    spmv::for_each_part(2, 2, [&](int part) {
        thread[static_cast<std::size_t>(part)] = omp_get_thread_num();
        if (part == 0) { // whoever has this one waits: the other thread has to do the next
            team = omp_get_num_threads();
            while (team == 2 && !second_is_done) {
                std::this_thread::yield();
            }
        }
        second_is_done = second_is_done || part == 1;
    });
    CHECK((team == 1 || thread[0] != thread[1]));
}
