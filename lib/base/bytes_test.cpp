#include "base/bytes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>

TEST_CASE("bytes are counted, and refused where a product leaves its type")
{
    constexpr std::size_t most = base::most_bytes;
    CHECK(base::bytes_of("x", 0, 8) == 0);
    CHECK(base::bytes_of("x", 8, 0) == 0);
    CHECK(base::bytes_of("x", 3, 8) == 24);
    CHECK(base::bytes_of("x", most, 1) == most);
    CHECK(base::bytes_of("x", most / 8, 8) == most / 8 * 8);
    for (auto const count : {most / 8 + 1, std::size_t{1} << 61, (std::size_t{1} << 61) + 1,
                             std::numeric_limits<std::size_t>::max()}) {
        CAPTURE(count);
        CHECK_THROWS_AS(base::bytes_of("x", count, 8), std::invalid_argument);
        CHECK_THROWS_AS(base::bytes_of("x", 8, count), std::invalid_argument);
    }
    CHECK_THROWS_WITH(base::bytes_of("cuda::Buffer", std::size_t{1} << 61, 8),
                      "cuda::Buffer: found 2305843009213693952 times 8 bytes, expected at most "
                      "9223372036854775807 in all");
}

TEST_CASE("no bytes are needed nowhere")
{
    char one = 0;
    CHECK_NOTHROW(base::require_memory("x", nullptr, 0));
    CHECK_NOTHROW(base::require_memory("x", &one, 1));
    CHECK_THROWS_WITH(base::require_memory("x", nullptr, 1),
                      "x: found a null pointer for 1 bytes, expected memory");
    CHECK_THROWS_AS(base::require_memory("x", &one, base::most_bytes + 1), std::invalid_argument);
}

TEST_CASE("places overlap if a byte is in both")
{
    std::array<char, 20> memory = {};
    for (std::size_t first = 0; first < 15; ++first) {
        CAPTURE(first);
        bool const both = first > 2 && first < 11;
        CHECK(base::overlap(&memory[6], 5, &memory[first], 4) == both);
        CHECK(base::overlap(&memory[first], 4, &memory[6], 5) == both);
        CHECK(!base::overlap(&memory[6], 5, &memory[first], 0));
    }
    CHECK(!base::overlap(nullptr, 0, nullptr, 0));
}
