#include "sparse/io/matrix_market_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace sparse::matrix_market {

namespace {

std::string_view mantissa(std::string_view number)
{
    return number.substr(0, number.find_first_of("eE"));
}

/// Whether a finite decimal number other than 0 is below 1 in magnitude; only for numbers so far
/// from 1 that the exponent of the first digit decides.
bool is_tiny(std::string_view number)
{
    auto const digits = mantissa(number);
    auto const point = std::min(digits.find('.'), digits.size());
    auto const first = digits.find_first_of("123456789");
    auto const place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    auto exponent = number.substr(std::min(digits.size() + 1, number.size()));
    auto const negative = exponent.starts_with('-');
    exponent.remove_prefix(negative || exponent.starts_with('+') ? 1 : 0);
    std::int64_t power = 0;
    auto const status = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
    if (status.ec == std::errc::result_out_of_range) {
        return negative;
    }
    return place + (negative ? -power : power) < 0;
}

} // namespace

std::string quoted(std::string_view text)
{
    constexpr std::size_t most = 40;
    std::string shown = "'";
    for (auto const c : text.substr(0, most)) {
        auto const byte = static_cast<unsigned char>(c);
        shown += byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
    return shown + (text.size() > most ? "...'" : "'");
}

template <class T>
std::optional<T> Cursor::unusual_real()
{
    std::string number{token()};
    if (auto const d = number.find_first_of("dD"); d != number.npos) {
        number[d] = 'e';
    }
    std::string_view digits{number};
    if (digits.starts_with('+') && !digits.starts_with("+-")) {
        digits.remove_prefix(1);
    }
    T value = 0;
    auto const* const end = digits.data() + digits.size();
    auto const [stop, status] = std::from_chars(digits.data(), end, value);
    if (stop != end || status == std::errc::invalid_argument) {
        return {};
    }
    if (status == std::errc::result_out_of_range) {
        if (!is_tiny(digits)) {
            return {};
        }
        value = digits.starts_with('-') ? T{-0.0} : T{0};
    }
    at_ += number.size();
    return value;
}

template std::optional<float> Cursor::unusual_real<float>();
template std::optional<double> Cursor::unusual_real<double>();

std::size_t lines_with_data(std::string_view text)
{
    std::size_t lines = 0;
    for (Cursor cursor{text, 1}; cursor.find_data(); cursor.take_line()) {
        ++lines;
    }
    return lines;
}

bool is_written_as_zero(std::string_view number)
{
    return mantissa(number.substr(0, number.find_first_of("dD"))).find_first_of("123456789") ==
           number.npos;
}

} // namespace sparse::matrix_market
