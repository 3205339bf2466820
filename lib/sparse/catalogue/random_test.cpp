#include "sparse/catalogue/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <set>
#include <vector>

TEST_CASE("the generator is SplitMix64")
{
    // The first outputs of the reference implementation for this seed.
    sparse::Random random{1234567};
    CHECK(random.next() == 6457827717110365317u);
    CHECK(random.next() == 3203168211198807973u);
    CHECK(random.next() == 9817491932198370423u);
    CHECK(random.next() == 4593380528125082431u);
    CHECK(random.next() == 16408922859458223821u);
}

TEST_CASE("streams of a seed differ from each other and from other seeds")
{
    std::set<std::uint64_t> first;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        for (std::uint64_t stream = 0; stream < 30; ++stream) {
            first.insert(sparse::Random{seed, stream}.next());
        }
    }
    CHECK(first.size() == 900);
}

TEST_CASE("below stays below and reaches everything")
{
    sparse::Random random{7};
    std::array<int, 10> seen{};
    for (int k = 0; k < 10000; ++k) {
        ++seen.at(random.below(seen.size()));
    }
    // Eight standard deviations of a binomial: 240.
    for (int const count : seen) {
        CHECK(count > 760);
        CHECK(count < 1240);
    }
    CHECK(random.below(0) == 0);
    CHECK(random.below(1) == 0);
}

TEST_CASE("a sample is sorted, distinct and within its bounds")
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        sparse::Random random{seed};
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
    sparse::Random random{3};
    std::vector<long> out(20);
    sparse::sample<long>(random, 5, 25, out);
    std::vector<long> expected(20);
    std::iota(expected.begin(), expected.end(), 5);
    CHECK(out == expected);
}

TEST_CASE("every subset is sampled alike")
{
    std::array<int, 10> seen{}; // of the 5 * 4 / 2 pairs
    sparse::Random random{11};
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
