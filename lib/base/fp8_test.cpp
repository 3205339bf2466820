#include "base/fp8.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

base::e4m3 with_bits(unsigned bits)
{
    base::e4m3 number;
    number.bits = static_cast<std::uint8_t>(bits);
    return number;
}

double value_of(unsigned bits)
{
    return static_cast<double>(with_bits(bits));
}

} // namespace

TEST_CASE("every number of 8 bits comes back, and NaN stays NaN")
{
    for (unsigned bits = 0; bits < 256; ++bits) {
        base::e4m3 const back{value_of(bits)};
        CHECK(back.bits == bits);
        CHECK(std::isnan(value_of(bits)) == ((bits & 0x7f) == 0x7f));
    }
}

TEST_CASE("what lies between two numbers of 8 bits goes to the nearest, half-way to the even one")
{
    for (unsigned bits = 0; bits + 1 < 0x7f; ++bits) {
        double const low = value_of(bits);
        double const high = value_of(bits + 1);
        double const half = (low + high) / 2;
        CHECK(base::e4m3{half}.bits == (bits % 2 == 0 ? bits : bits + 1));
        CHECK(base::e4m3{std::nextafter(half, 0)}.bits == bits);
        CHECK(base::e4m3{-std::nextafter(half, high)}.bits == (0x80 | (bits + 1)));
    }
}

TEST_CASE("numbers of 8 bits are those of the standard, and end at 448")
{
    CHECK(value_of(0x01) == std::ldexp(1, -9)); // least
    CHECK(value_of(0x08) == std::ldexp(1, -6)); // least normal
    CHECK(value_of(0x38) == 1);
    CHECK(value_of(0x7e) == base::e4m3::largest);
    CHECK(value_of(0xfe) == -448);
    CHECK(base::e4m3{1e9}.bits == 0x7e);
    CHECK(base::e4m3{-std::numeric_limits<double>::infinity()}.bits == 0xfe);
    CHECK(base::e4m3{std::ldexp(1, -60)}.bits == 0);
}
