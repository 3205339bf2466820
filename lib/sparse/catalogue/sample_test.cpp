#include "sparse/catalogue/sample.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <vector>

TEST_CASE("a sample is sorted, distinct and within its bounds")
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        base::Random random{seed};
        auto const begin = static_cast<int>(random.below(50)) - 25;
        auto const size = static_cast<int>(random.below(40));
        std::vector<int> out(random.below(static_cast<std::uint64_t>(size) + 1));
        sparse::sample<int>(random, begin, begin + size, out);
        for (std::size_t k = 0; k < out.size(); ++k) {
            CHECK(out[k] >= begin);
            CHECK(out[k] < begin + size);
            CHECK((k == 0 || out[k - 1] < out[k]));
        }
    }
}

TEST_CASE("a full sample is everything")
{
    base::Random random{3};
    std::vector<long> out(20);
    sparse::sample<long>(random, 5, 25, out);
    std::vector<long> expected(20);
    std::iota(expected.begin(), expected.end(), 5);
    CHECK(out == expected);
}

TEST_CASE("every subset is sampled alike")
{
    std::array<int, 10> seen{}; // of the 5 * 4 / 2 pairs
    base::Random random{11};
    for (int k = 0; k < 10000; ++k) {
        std::array<int, 2> pair{};
        sparse::sample<int>(random, 0, 5, pair);
        ++seen.at(static_cast<std::size_t>(pair[1] * (pair[1] - 1) / 2 + pair[0]));
    }
    for (int const count : seen) {
        CHECK(count > 760);
        CHECK(count < 1240);
    }
}
