#include "dense/banks.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>
#include <string>

TEST_CASE("words of 4 bytes: as many cycles as the greatest common divisor of stride and 32")
{
    for (int stride = 1; stride <= 33; ++stride) {
        CAPTURE(stride);
        CHECK(dense::predicted_cycles(dense::strided(stride, 4)) == std::gcd(stride, 32));
    }
    CHECK(dense::predicted_cycles(dense::strided(0, 4)) == 1); // all lanes want one word
}

TEST_CASE("wide words without conflict take a cycle for each 128 bytes")
{
    CHECK(dense::predicted_cycles(dense::strided(1, 8)) == 2);
    CHECK(dense::predicted_cycles(dense::strided(1, 16)) == 4);
    CHECK(dense::predicted_conflicts(dense::strided(1, 16)) == 0);
    CHECK(dense::predicted_cycles(dense::strided(2, 8)) == 4);
}

TEST_CASE("transposes")
{
    auto const found = dense::transposes();
    CHECK(dense::predicted_cycles(found[0]) == 32);
    CHECK(dense::predicted_cycles(found[1]) == 1);
    CHECK(dense::predicted_cycles(found[2]) == 1);
}

TEST_CASE("layouts of packs: two conflicts of two only where single words are written side by side")
{
    for (auto const& pattern : dense::pack_layouts(1, 1)) {
        CHECK(dense::predicted_conflicts(pattern) == 0);
    }
    auto const two = dense::pack_layouts(2, 1);
    CHECK(dense::predicted_conflicts(two[0]) == 1);
    CHECK(dense::predicted_conflicts(two[1]) == 0);
    CHECK(dense::predicted_conflicts(two[2]) == 0);
}

TEST_CASE("a reader's own pattern")
{
    CHECK(dense::predicted_cycles(dense::parse_pattern("stride:3")) == 1);
    CHECK(dense::predicted_cycles(dense::parse_pattern("stride:2x8")) == 4);
    std::string words = "0";
    for (int lane = 1; lane < 32; ++lane) {
        words += ',';
        words += std::to_string(lane * 16);
    }
    CHECK(dense::predicted_cycles(dense::parse_pattern(words)) == 16);
    CHECK_THROWS_WITH_AS(dense::parse_pattern("1,2"),
                         "pattern \"1,2\": found 2 words, expected 32, or stride:N",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(dense::parse_pattern("stride:a"),
                         "pattern \"stride:a\": found \"a\", expected a number",
                         std::invalid_argument);
    CHECK_THROWS_AS(dense::parse_pattern("stride:1x5"), std::invalid_argument);
    CHECK_THROWS_AS(dense::parse_pattern("stride:-1"), std::invalid_argument);
    CHECK_THROWS_AS(dense::parse_pattern("stride:5000"), std::invalid_argument);
}
