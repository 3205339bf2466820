#include "dense/banks.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

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

TEST_CASE("reads of wide words that neighbours share come twice as many lanes at a time")
{
    using dense::Access;
    auto const cycles = [](dense::AccessPattern const& pattern) {
        return std::pair{dense::predicted_cycles(pattern, Access::read),
                         dense::predicted_cycles(pattern, Access::write)};
    };
    auto const of_16 = dense::shared_elements(16);
    CHECK(cycles(of_16[0]) == std::pair{2, 4}); // all want one: measured on an H100, 2
    CHECK(cycles(of_16[1]) == std::pair{2, 4}); // pairs
    CHECK(cycles(of_16[2]) == std::pair{4, 4}); // the same again and again, but no neighbours
    auto const of_8 = dense::shared_elements(8);
    CHECK(cycles(of_8[0]) == std::pair{1, 2});
    CHECK(cycles(of_8[1]) == std::pair{1, 2});
    CHECK(cycles(of_8[2]) == std::pair{2, 2});
    CHECK(cycles(of_16[3]) == std::pair{2, 4}); // lanes two apart want the same
    CHECK(cycles(of_8[3]) == std::pair{1, 2});
    CHECK(cycles(dense::phase_lines(8)) == std::pair{32, 32});
    CHECK(cycles(dense::phase_lines(16)) == std::pair{32, 32});
    CHECK(cycles(dense::strided(2, 16)) == std::pair{8, 8});
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

TEST_CASE("patterns that no shared memory has are refused, also where a product leaves its type")
{
    using dense::AccessPattern;
    for (auto const* text : {"stride:268435456x16", "stride:134217728", "stride:2147483647x8",
                             "stride:99999999999", "stride:-2147483648", "stride:1x0",
                             "stride:1x-4", "stride:x8", "stride:1.5", "stride:", "", ",", "nan"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(dense::parse_pattern(text), std::invalid_argument);
    }
    std::string words = "2147483647";
    for (int lane = 1; lane < 32; ++lane) {
        words += ",0";
    }
    CHECK_THROWS_AS(dense::parse_pattern(words), std::invalid_argument);
    CHECK_THROWS_AS(dense::strided(1, 3), std::invalid_argument);
    CHECK_THROWS_AS(dense::strided(1 << 30, 4), std::invalid_argument);
    CHECK_THROWS_AS(dense::pack_layouts(0, 1), std::invalid_argument);
    CHECK_THROWS_AS(dense::pack_layouts(1 << 30, 4), std::invalid_argument);
    CHECK_THROWS_AS(dense::pack_layouts(1, (1 << 30) + 1), std::invalid_argument);
    CHECK_THROWS_AS(dense::shared_elements(0), std::invalid_argument);
    CHECK_THROWS_AS(dense::shared_elements(6), std::invalid_argument);
    CHECK_THROWS_AS(dense::phase_lines(6), std::invalid_argument);

    AccessPattern made = dense::strided(1, 4);
    CHECK_NOTHROW(dense::require_sound(made));
    made.bytes = 0;
    CHECK_THROWS_AS(dense::predicted_cycles(made), std::invalid_argument);
    made.bytes = 8; // words that are no multiples of two
    CHECK_THROWS_AS(dense::predicted_conflicts(made), std::invalid_argument);
    made = dense::strided(1, 4);
    made.word[31] = -1;
    CHECK_THROWS_AS(dense::predicted_cycles(made), std::invalid_argument);
}
