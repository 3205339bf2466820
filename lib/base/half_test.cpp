#include "base/half.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

/// The number with the bits; `Half` is one of the two formats.
template <class Half>
Half with_bits(unsigned bits)
{
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    return half;
}

} // namespace

TEST_CASE_TEMPLATE("every number of 16 bits comes back, and NaN stays NaN", Half, base::fp16,
                   base::bf16)
{
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        auto const half = with_bits<Half>(bits);
        auto const value = static_cast<double>(half);
        Half const back{value};
        if (std::isnan(value)) {
            CHECK(std::isnan(static_cast<double>(back)));
        } else {
            CHECK(back.bits == bits);
        }
    }
}

TEST_CASE_TEMPLATE("what lies between two numbers goes to the nearest, half-way to the even one",
                   Half, base::fp16, base::bf16)
{
    for (unsigned bits = 0; !std::isinf(static_cast<double>(with_bits<Half>(bits + 1))); ++bits) {
        auto const low = static_cast<double>(with_bits<Half>(bits));
        auto const high = static_cast<double>(with_bits<Half>(bits + 1));
        auto const middle = low + (high - low) / 2;
        CHECK(Half{middle}.bits == (bits % 2 == 0 ? bits : bits + 1));
        CHECK(Half{std::nextafter(middle, low)}.bits == bits);
        CHECK(Half{std::nextafter(middle, high)}.bits == bits + 1);
        CHECK(Half{-std::nextafter(middle, high)}.bits == (0x8000u | (bits + 1)));
    }
}

TEST_CASE("bits are those of the formats")
{
    CHECK(base::fp16{1.0}.bits == 0x3c00);
    CHECK(base::fp16{-2.0}.bits == 0xc000);
    CHECK(base::fp16{65504.0}.bits == 0x7bff);
    CHECK(base::fp16{65520.0}.bits == 0x7c00); // half-way to what would come next: infinity
    CHECK(base::fp16{0x1p-24}.bits == 0x0001);
    CHECK(base::fp16{1e300}.bits == 0x7c00);
    CHECK(base::bf16{1.0}.bits == 0x3f80);
    CHECK(base::bf16{std::numeric_limits<double>::infinity()}.bits == 0x7f80);
    CHECK(static_cast<float>(base::bf16{-3.0}) == -3.0f);
}

TEST_CASE("all bits set are NaN in both formats: the harness writes them where results shall be")
{
    CHECK(std::isnan(static_cast<double>(with_bits<base::fp16>(0xffff))));
    CHECK(std::isnan(static_cast<double>(with_bits<base::bf16>(0xffff))));
}
