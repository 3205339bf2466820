#include "bench/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench {

namespace {

/// Error in units of its bound; a zero bound allows no error.
double relative_error(double error, double bound)
{
    return error == 0 ? 0 : error / bound;
}

bool is_wrong(Check check, Expected const& expected, double actual, std::size_t i)
{
    if (check == Check::exact) {
        return !(actual == expected.value[i]);
    }
    return !(std::abs(actual - expected.value[i]) <= expected.bound[i]);
}

std::string describe(Check check, Expected const& expected, double actual, std::size_t i)
{
    if (std::isnan(actual)) {
        return fmt::format("element {} was not written or is NaN, expected {:.9g}", i,
                           expected.value[i]);
    }
    auto const line =
        fmt::format("element {} is {:.9g}, expected {:.9g}", i, actual, expected.value[i]);
    return check == Check::exact ? line + " exactly"
                                 : line + fmt::format(" within {:.3g}", expected.bound[i]);
}

void require_usable(Check check, Expected const& expected, std::size_t count)
{
    if (expected.value.size() != count) {
        throw std::logic_error{fmt::format("the expected result has {} elements, the outputs {}",
                                           expected.value.size(), count)};
    }
    if (check == Check::bounded && expected.bound.size() != count) {
        throw std::logic_error{"the expected result has not one bound for each value"};
    }
    std::size_t infinite = 0;
#pragma omp parallel for reduction(+ : infinite)
    for (std::size_t i = 0; i < count; ++i) {
        infinite += std::isfinite(expected.value[i]) ? 0 : 1;
    }
    if (infinite > 0) {
        throw std::logic_error{"the expected result is not finite"};
    }
}

} // namespace

void compare(Check check, Expected const& expected, std::vector<double> const& actual,
             std::string const& occasion, Verdict& verdict)
{
    require_usable(check, expected, actual.size());
    std::size_t wrong = 0;
    std::size_t first = actual.size();
    double error = verdict.error;
#pragma omp parallel for reduction(+ : wrong) reduction(min : first) reduction(max : error)
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (is_wrong(check, expected, actual[i], i)) {
            first = std::min(first, i);
            ++wrong;
        } else if (check == Check::bounded) {
            error = std::max(
                error, relative_error(std::abs(actual[i] - expected.value[i]), expected.bound[i]));
        }
    }
    verdict.error = error;
    if (wrong > 0) {
        verdict.fail(fmt::format("{}: {} of {} elements are wrong; {}", occasion, wrong,
                                 actual.size(), describe(check, expected, actual[first], first)));
    }
}

} // namespace bench
