#include "base/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <vector>

TEST_CASE("the generator is SplitMix64")
{
    // The first outputs of the reference implementation for this seed.
    base::Random random{1234567};
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
            first.insert(base::Random{seed, stream}.next());
        }
    }
    CHECK(first.size() == 900);
}

TEST_CASE("below stays below and reaches everything")
{
    base::Random random{7};
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

TEST_CASE("a shuffle brings every element to every place alike")
{
    std::array<std::array<int, 4>, 4> seen{}; // of element e at place p
    base::Random random{5};
    for (int k = 0; k < 10000; ++k) {
        std::array<std::size_t, 4> order{0, 1, 2, 3};
        random.shuffle(order);
        for (std::size_t place = 0; place < order.size(); ++place) {
            ++seen.at(order.at(place)).at(place);
        }
    }
    for (auto const& places : seen) {
        for (int const count : places) { // eight standard deviations of a binomial: 346
            CHECK(count > 2154);
            CHECK(count < 2846);
        }
    }
}

TEST_CASE("a real is at least 0 and less than 1")
{
    base::Random random{9};
    double sum = 0;
    for (int k = 0; k < 10000; ++k) {
        double const real = random.unit();
        REQUIRE(real >= 0);
        REQUIRE(real < 1);
        sum += real;
    }
    CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.05)); // nine standard deviations
}
