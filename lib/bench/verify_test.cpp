#include "bench/verify.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

TEST_CASE("results short and long are compared element by element")
{
    for (std::size_t const count : {10UL, 200'000UL}) {
        CAPTURE(count);
        bench::Expected expected{std::vector<double>(count), std::vector<double>(count, 0.5)};
        std::iota(expected.value.begin(), expected.value.end(), 0.0);
        auto actual = expected.value;
        actual.back() += 0.25;
        bench::Verdict sound;
        bench::compare(bench::Check::bounded, expected, actual, "a check", sound);
        CHECK(sound.passed);
        CHECK(sound.error == 0.5);
        actual[7] = std::numeric_limits<double>::quiet_NaN();
        actual[3] += 1;
        for (auto const check : {bench::Check::bounded, bench::Check::exact}) {
            bench::Verdict wrong;
            bench::compare(check, expected, actual, "a check", wrong);
            CHECK(!wrong.passed);
            auto const most = check == bench::Check::exact ? 3 : 2;
            auto const said = std::to_string(most) + " of " + std::to_string(count) +
                              " elements are wrong; element 3 is 4, expected 3";
            CHECK(wrong.reason.find(said) != std::string::npos);
        }
        expected.value[count / 2] = std::numeric_limits<double>::infinity();
        bench::Verdict none;
        CHECK_THROWS(bench::compare(bench::Check::exact, expected, actual, "a check", none));
    }
}
