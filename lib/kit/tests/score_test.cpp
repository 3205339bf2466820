#include "kit/score.hpp"

#include <doctest/doctest.h>

namespace {

/// A case in which naive takes 8 s and the model 2 s, with a bound of 1 s.
kit::Standing standing(char const* name, double seconds)
{
    return {.name = name, .seconds = seconds, .naive = 8, .floor = 1, .model_share = 0.5};
}

constexpr kit::Points points{.correctness = 40, .speed = 60, .span = 4};

} // namespace

TEST_CASE("a case brings points from naive or the span to the model")
{
    CHECK(kit::part_of_speed(standing("a", 2), 4) == doctest::Approx(1));
    CHECK(kit::part_of_speed(standing("a", 1), 4) == doctest::Approx(1));
    CHECK(kit::part_of_speed(standing("a", 4), 4) == doctest::Approx(0.5));
    CHECK(kit::part_of_speed(standing("a", 8), 4) == doctest::Approx(0));
    CHECK(kit::part_of_speed(standing("a", 4), 100) == doctest::Approx(0.5)); // naive is the begin
    CHECK(kit::part_of_speed(standing("a", 4), 2) == doctest::Approx(0));
}

TEST_CASE("the next target is in the case that is farthest behind")
{
    auto const told = kit::score({standing("near", 2.5), standing("far", 4)}, points);
    CHECK(told.find("about 80 of 100 points") == 0);
    // A fifth of the scale, whose length is 4, is 4^0.2 = 1.32 times as fast: 3.031 s.
    CHECK(
        told.find("next: far in 3031.433 ms, 2.64 times as fast as naive, brings 6 points more") !=
        std::string::npos);
}

TEST_CASE("cases weigh what the kit says")
{
    auto heavy = standing("heavy", 2);
    heavy.weight = 3;
    auto const told = kit::score({heavy, standing("light", 8)}, points);
    CHECK(told.find("about 85 of 100 points") == 0);
    CHECK(told.find("next: light") != std::string::npos);
    CHECK(told.find("brings 3 points more") != std::string::npos); // a fifth of a quarter of 60
}

TEST_CASE("who is as fast as the model has all points and no target")
{
    CHECK(kit::score({standing("a", 2)}, points).find("about 100 of 100") == 0);
    CHECK(kit::score({standing("a", 2)}, points).find("next") == std::string::npos);
}

TEST_CASE("a case in which nothing is to be gained brings nothing")
{
    auto easy = standing("easy", 8);
    easy.naive = 2.4;
    CHECK(kit::score({easy}, points).empty());
    CHECK(kit::score({easy, standing("a", 2)}, points).find("about 100") == 0);
    auto unknown = standing("unknown", 8);
    unknown.model_share = 0;
    CHECK(kit::score({unknown}, points).empty());
}
