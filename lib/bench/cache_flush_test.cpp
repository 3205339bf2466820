#include "bench/cache_flush.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace {

/// A cache so large that lines are thrown out one by one, where the processor can, and a small one,
/// which is read.
constexpr std::size_t sizes[] = {std::size_t{8} << 30, std::size_t{1} << 20};

} // namespace

TEST_CASE("emptying caches changes nothing in memory, whatever was just written")
{
    for (auto const cache_bytes : sizes) {
        bench::CacheFlush flush{cache_bytes};
        std::vector<int> numbers(1 << 20);
        std::iota(numbers.begin(), numbers.end(), 0);
        auto const expected = numbers;
        for (int i = 0; i < 3; ++i) {
            flush();
            CHECK(numbers == expected);
        }
    }
}
