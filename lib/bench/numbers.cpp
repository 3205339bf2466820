#include "bench/numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace bench {

namespace {

/// Reads all of `text`, which std::from_chars does the same way in every locale.
template <class T>
bool reads(std::string const& text, T& value)
{
    auto const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stopped == end;
}

[[noreturn]] void refuse(std::string const& option, std::string const& text,
                         std::string const& expected)
{
    constexpr std::size_t shown = 40;
    auto const found = text.size() > shown ? text.substr(0, shown) + "..." : text;
    throw std::invalid_argument{
        fmt::format("{}: found '{}', expected {}", option, found, expected)};
}

} // namespace

std::int64_t whole_number(std::string const& option, std::string const& text, std::int64_t least,
                          std::int64_t most)
{
    std::int64_t value = 0;
    if (!reads(text, value) || value < least || value > most) {
        refuse(option, text, fmt::format("a whole number from {} to {}", least, most));
    }
    return value;
}

double finite_number(std::string const& option, std::string const& text, double least, double most)
{
    double value = 0;
    if (!reads(text, value) || !std::isfinite(value) || value < least || value > most) {
        refuse(option, text,
               most < std::numeric_limits<double>::max()
                   ? fmt::format("a number from {} to {}", least, most)
                   : fmt::format("a finite number of at least {}", least));
    }
    return value;
}

} // namespace bench
