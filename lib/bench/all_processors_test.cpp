#include "bench/all_processors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t parts = 5;

/// How often each part is done in one call.
std::vector<int> times_done(std::size_t of)
{
    std::vector<std::atomic<int>> times(of);
    bench::on_helpers(of, [&](std::size_t part) { ++times[part]; });
    return {times.begin(), times.end()};
}

} // namespace

TEST_CASE("each part is done once, in one call after the other")
{
    for (std::size_t of = 0; of < 200; ++of) {
        CHECK(times_done(of % 40) == std::vector<int>(of % 40, 1));
    }
}

TEST_CASE("parts are done at the same time")
{
    std::atomic<std::size_t> come = 0;
    bench::on_helpers(parts, [&](std::size_t) {
        ++come;
        while (come < parts) { // for ever, were one done after the other
            std::this_thread::yield();
        }
    });
    CHECK(come == parts);
}

TEST_CASE("a part may ask for help itself")
{
    std::atomic<int> done = 0;
    bench::on_helpers(parts,
                      [&](std::size_t) { bench::on_helpers(parts, [&](std::size_t) { ++done; }); });
    CHECK(done == parts * parts);
}

TEST_CASE("threads of the program may ask beside each other")
{
    std::vector<std::jthread> others;
    std::atomic<int> right = 0;
    for (int k = 0; k < 4; ++k) {
        others.emplace_back([&] {
            for (int call = 0; call < 200; ++call) {
                right += times_done(parts) == std::vector<int>(parts, 1) ? 1 : 0;
            }
        });
    }
    others.clear();
    CHECK(right == 800);
}

TEST_CASE("ranges are all there is, each element in one of them")
{
    for (std::size_t const count : {0, 1, 65'535, 65'536, 200'000, 1'000'003}) {
        std::vector<int> times(count);
        std::mutex mutex;
        std::set<std::thread::id> threads;
        bench::on_all_processors(count, [&](std::size_t begin, std::size_t end) {
            std::for_each(times.begin() + static_cast<std::ptrdiff_t>(begin),
                          times.begin() + static_cast<std::ptrdiff_t>(end),
                          [](int& one) { ++one; });
            std::scoped_lock const lock{mutex};
            threads.insert(std::this_thread::get_id());
        });
        CHECK(std::ranges::count(times, 1) == static_cast<std::ptrdiff_t>(count));
        CHECK(threads.size() <= std::max<std::size_t>(count / 65'536, 1));
    }
}
