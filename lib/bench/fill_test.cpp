#include "bench/element.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using bench::Check;

constexpr std::size_t count = 300'000; // several chunks, the last not full

template <class T>
std::vector<T> filled(Check check, std::uint64_t seed, std::size_t elements = count)
{
    std::vector<T> values(elements);
    bench::Fill{check, seed}(std::span{values});
    return values;
}

template <class T>
std::vector<double> as_doubles(std::vector<T> const& values)
{
    std::vector<double> doubles(values.size());
    bench::element_type<T>().to_double(reinterpret_cast<std::byte const*>(values.data()), doubles);
    return doubles;
}

template <class T>
bool same(std::vector<T> const& one, std::vector<T> const& other)
{
    return std::ranges::equal(std::as_bytes(std::span{one}), std::as_bytes(std::span{other}));
}

/// What magnitudes lie between in a check of reals or integers.
struct Range
{
    double least;
    double most;
};

template <class T>
Range range_of(Check check)
{
    if (check == Check::exact) {
        return {1, 3};
    }
    if (std::integral<T>) {
        return {1, sizeof(T) == 1 ? 250.0 : 1000.0};
    }
    return {0.0625, 1};
}

} // namespace

TEST_CASE_TEMPLATE("values are within what is promised, and use all of it", T, bench::fp16,
                   bench::bf16, float, double, std::int32_t, std::uint8_t)
{
    for (auto const check : {Check::exact, Check::bounded}) {
        CAPTURE((check == Check::exact));
        auto const range = range_of<T>(check);
        auto const values = as_doubles(filled<T>(check, 1));
        bool const are_integers = check == Check::exact || std::integral<T>;
        std::size_t outside = 0;
        std::size_t broken = 0;
        std::size_t negative = 0;
        double least = range.most;
        double most = range.least;
        for (double const value : values) {
            double const magnitude = std::abs(value);
            outside += magnitude >= range.least && magnitude <= range.most ? 0 : 1;
            broken += are_integers && value != std::round(value) ? 1 : 0;
            negative += value < 0 ? 1 : 0;
            least = std::min(least, magnitude);
            most = std::max(most, magnitude);
        }
        CHECK(outside == 0);
        CHECK(broken == 0);
        CHECK(least < range.least * 1.01);
        CHECK(most > range.most * 0.99);
        if (std::unsigned_integral<T>) {
            CHECK(negative == 0);
        } else {
            CHECK(negative > count * 49 / 100);
            CHECK(negative < count * 51 / 100);
        }
    }
}

TEST_CASE_TEMPLATE("values are the same for the same seed, others for another", T, bench::fp16,
                   bench::bf16, float, double, std::int32_t, std::uint8_t)
{
    for (auto const check : {Check::exact, Check::bounded}) {
        auto const values = filled<T>(check, 7);
        CHECK(same(values, filled<T>(check, 7)));
        CHECK(!same(values, filled<T>(check, 8)));
        // However many elements there are, and so however many threads fill them.
        for (std::size_t const fewer :
             {0UL, 1UL, 1000UL, 65'536UL, 65'537UL, 131'072UL, 200'000UL}) {
            CHECK(same(filled<T>(check, 7, fewer),
                       std::vector<T>(values.begin(),
                                      values.begin() + static_cast<std::ptrdiff_t>(fewer))));
        }
    }
}

TEST_CASE("values are the same on every machine")
{
    CHECK(filled<std::int32_t>(Check::exact, 1, 8) ==
          std::vector<std::int32_t>{-3, -1, -3, 2, 1, -3, 2, 2});
    CHECK(filled<double>(Check::bounded, 1, 4) ==
          std::vector<double>{-0x1.a176415fb3d72p-2, 0x1.adc97065f56ap-4, -0x1.1259bc00664c6p-2,
                              0x1.4c9ba3e5b0ffp-1});
}

TEST_CASE_TEMPLATE("poison is what no correct result holds", T, bench::fp16, bench::bf16, float,
                   double, std::int32_t, std::uint8_t)
{
    auto const& type = bench::element_type<T>();
    CHECK(type.bytes == sizeof(T));
    std::array<std::byte, sizeof(T)> poisoned;
    poisoned.fill(std::byte{type.poison});
    auto const value = as_doubles(std::vector{std::bit_cast<T>(poisoned)}).front();
    if (std::integral<T>) {
        CHECK(std::abs(value) >= 128);
    } else {
        CHECK(std::isnan(value));
    }
}

TEST_CASE("types have the names of records")
{
    CHECK(bench::element_type<bench::fp16>().name == "fp16");
    CHECK(bench::element_type<bench::bf16>().name == "bf16");
    CHECK(bench::element_type<float>().name == "fp32");
    CHECK(bench::element_type<double>().name == "fp64");
    CHECK(bench::element_type<std::int32_t>().name == "int32");
    CHECK(bench::element_type<std::uint8_t>().name == "uint8");
}
