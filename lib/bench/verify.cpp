#include "bench/verify.hpp"

#include "bench/all_processors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
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
    std::atomic<bool> finite = true;
    on_all_processors(count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (!std::isfinite(expected.value[i])) {
                finite = false;
            }
        }
    });
    if (!finite) {
        throw std::logic_error{"the expected result is not finite"};
    }
}

/// What a range of the elements differs by.
struct Difference
{
    std::size_t wrong = 0; ///< elements
    std::size_t first = 0; ///< of them; behind all if there is none
    double error = 0;      ///< the largest of the others, in units of its bound
};

Difference difference(Check check, Expected const& expected, std::vector<double> const& actual,
                      std::size_t begin, std::size_t end)
{
    Difference found{.first = actual.size()};
    for (std::size_t i = begin; i < end; ++i) {
        if (is_wrong(check, expected, actual[i], i)) {
            found.first = std::min(found.first, i);
            ++found.wrong;
        } else if (check == Check::bounded) {
            found.error =
                std::max(found.error, relative_error(std::abs(actual[i] - expected.value[i]),
                                                     expected.bound[i]));
        }
    }
    return found;
}

} // namespace

void compare(Check check, Expected const& expected, std::vector<double> const& actual,
             std::string const& occasion, Verdict& verdict)
{
    require_usable(check, expected, actual.size());
    Difference all{.first = actual.size(), .error = verdict.error};
    std::mutex mutex;
    on_all_processors(actual.size(), [&](std::size_t begin, std::size_t end) {
        auto const part = difference(check, expected, actual, begin, end);
        std::lock_guard const lock{mutex};
        all.wrong += part.wrong;
        all.first = std::min(all.first, part.first);
        all.error = std::max(all.error, part.error);
    });
    verdict.error = all.error;
    if (all.wrong > 0) {
        verdict.fail(fmt::format("{}: {} of {} elements are wrong; {}", occasion, all.wrong,
                                 actual.size(),
                                 describe(check, expected, actual[all.first], all.first)));
    }
}

} // namespace bench
