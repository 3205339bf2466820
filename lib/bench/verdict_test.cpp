#include "bench/verdict.hpp"

#include "bench/fake_target.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Check;
using bench::Expected;
using bench::Operand;
using bench::Verdict;
using bench::testing::FakeTarget;

/// An output whose copy in the memory of `where` holds `values`.
Operand output_of(bench::Target& where, std::vector<double> values)
{
    Operand output{bench::element_type<double>(), values.size(), true};
    where.upload(output.bytes(where), std::as_bytes(std::span{values}));
    where.finish();
    return output;
}

Verdict verdict(Check check, Operand& output, bench::Target& where, Expected const* whole = nullptr)
{
    Verdict verdict;
    output.wanted = whole != nullptr ? std::optional{*whole} : std::nullopt;
    bench::compare(check, output, where, "a check", verdict);
    return verdict;
}

} // namespace

TEST_CASE("results short and long are compared element by element, wherever they lie")
{
    FakeTarget fake;
    for (auto* const where : {&bench::host(), static_cast<bench::Target*>(&fake)}) {
        for (std::size_t const count : {10UL, 200'000UL, 2'500'000UL}) {
            CAPTURE(where->name());
            CAPTURE(count);
            Expected expected{std::vector<double>(count), std::vector<double>(count, 0.5)};
            std::iota(expected.value.begin(), expected.value.end(), 0.0);
            auto actual = expected.value;
            actual.back() += 0.25;
            auto nearly = output_of(*where, actual);
            auto const sound = verdict(Check::bounded, nearly, *where, &expected);
            CHECK(sound.passed);
            CHECK(sound.error == 0.5);
            actual[7] = std::numeric_limits<double>::quiet_NaN();
            actual[3] += 1;
            auto wrong = output_of(*where, actual);
            for (auto const check : {Check::bounded, Check::exact}) {
                auto const failed = verdict(check, wrong, *where, &expected);
                CHECK(!failed.passed);
                auto const most = check == Check::exact ? 3 : 2;
                auto const said = "a check: " + std::to_string(most) + " of " +
                                  std::to_string(count) +
                                  " elements are wrong; element 3 is 4, expected 3";
                CHECK(failed.reason.find(said) == 0);
            }
            expected.value[count / 2] = std::numeric_limits<double>::infinity();
            CHECK_THROWS(verdict(Check::exact, wrong, *where, &expected));
        }
    }
}

TEST_CASE("an expectation that does not fit its output is refused")
{
    auto output = output_of(bench::host(), {1, 2, 3});
    Expected const few{{1, 2}, {0, 0}};
    CHECK_THROWS_AS(verdict(Check::exact, output, bench::host(), &few), std::logic_error);
    Expected const unbounded{{1, 2, 3}, {}};
    CHECK(verdict(Check::exact, output, bench::host(), &unbounded).passed);
    CHECK_THROWS_AS(verdict(Check::bounded, output, bench::host(), &unbounded), std::logic_error);
    Expected const no_bound{{1, 2, 3}, {1, 1, std::numeric_limits<double>::quiet_NaN()}};
    CHECK(!verdict(Check::bounded, output, bench::host(), &no_bound).passed);
}

TEST_CASE("what is expected as a whole is computed where it is not known")
{
    auto output = output_of(bench::host(), {1, 2, 3});
    int computed = 0;
    output.expectation.whole = [&] {
        ++computed;
        return Expected{{1, 2, 4}, {0, 0, 1}};
    };
    CHECK(verdict(Check::bounded, output, bench::host()).passed);
    CHECK(verdict(Check::exact, output, bench::host()).reason.find("element 2 is 3, expected 4") !=
          std::string::npos);
    CHECK(computed == 2);
}

TEST_CASE("blocks begin at multiples of their granule and cover every element once")
{
    FakeTarget fake;
    constexpr std::size_t usual = 1 << 20;
    struct Shape
    {
        std::size_t count;
        std::size_t granule;
    };
    for (auto const& shape : {Shape{1, 1}, Shape{usual, 1}, Shape{usual + 1, 1},
                              Shape{2'500'000, 3}, Shape{2'500'000, 1000}, Shape{2'500'000, usual},
                              Shape{2'500'000, 1'100'000}, Shape{100, 1'000'000}, Shape{0, 5}}) {
        auto const count = shape.count;
        auto const granule = shape.granule;
        CAPTURE(count);
        CAPTURE(granule);
        Operand output{bench::element_type<std::int32_t>(), count, true};
        std::span const values{reinterpret_cast<std::int32_t*>(output.on(fake)), count};
        fake.finish();
        std::iota(values.begin(), values.end(), 0);
        std::vector<std::pair<std::size_t, std::size_t>> blocks;
        output.expectation = {
            .granule = granule,
            .block = [&](std::size_t first, std::span<double> value, std::span<double> bound) {
                CHECK(first % granule == 0);
                CHECK(bound.size() == value.size());
                blocks.emplace_back(first, value.size());
                std::iota(value.begin(), value.end(), static_cast<double>(first));
                std::ranges::fill(bound, 0.5);
            }};
        CHECK(verdict(Check::exact, output, fake).passed);
        std::size_t next = 0;
        for (auto const& [first, elements] : blocks) {
            CHECK(first == next);
            CHECK(elements > 0);
            CHECK(elements <= std::max(usual, granule));
            next = first + elements;
        }
        CHECK(next == count);
        CHECK(blocks.size() <= 1 + 2 * count / usual);
        auto const bounded = verdict(Check::bounded, output, fake);
        CHECK(bounded.passed);
        CHECK(bounded.error == 0);
        if (count > 0) {
            ++values.back();
            auto const said = "a check: 1 of " + std::to_string(count) +
                              " elements are wrong; element " + std::to_string(count - 1) + " is ";
            CHECK(verdict(Check::exact, output, fake).reason.find(said) == 0);
            CHECK(verdict(Check::bounded, output, fake).reason.find(said) == 0);
        }
    }
}

TEST_CASE("wrong elements of several blocks are counted together, and the first is named")
{
    constexpr std::size_t count = 3'000'000;
    std::vector<double> values(count, 7);
    for (std::size_t const wrong : {1'500'000UL, 1'500'001UL, 2'999'999UL}) {
        values[wrong] = 8;
    }
    auto output = output_of(bench::host(), values);
    output.expectation.block = [](std::size_t, std::span<double> value, std::span<double> bound) {
        std::ranges::fill(value, 7);
        std::ranges::fill(bound, 0.5);
    };
    CHECK(verdict(Check::bounded, output, bench::host()).reason ==
          "a check: 3 of 3000000 elements are wrong; element 1500000 is 8, expected 7 within 0.5");
    output.expectation.block = [](std::size_t first, std::span<double> value, std::span<double>) {
        std::ranges::fill(value, first > 0 ? std::numeric_limits<double>::infinity() : 7);
    };
    CHECK_THROWS_AS(verdict(Check::exact, output, bench::host()), std::logic_error);
    output.expectation.block = [](std::size_t, std::span<double> value, std::span<double>) {
        std::ranges::fill(value.subspan(1), 7); // and says nothing of the first
    };
    CHECK_THROWS_AS(verdict(Check::exact, output, bench::host()), std::logic_error);
}
