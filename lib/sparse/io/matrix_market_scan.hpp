#pragma once

#include "sparse/io/matrix_market.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace sparse::matrix_market {

/// A piece of a file as an error shows it: in quotes, on one line, not too long.
std::string quoted(std::string_view text);

/// A place in a text and the number of its line.
class Cursor
{
public:
    /// The start of a text whose first line has the number `line`.
    Cursor(std::string_view text, std::size_t line)
        : at_{text.data()}, end_{text.data() + text.size()}, line_{line}
    {
    }

    /// Number of the line.
    std::size_t line() const { return line_; }

    /// Goes to the next character that is neither blank nor in a blank or comment line; false if
    /// there is none.
    bool find_data()
    {
        for (;;) {
            skip_blanks();
            if (at_ == end_) {
                return false;
            }
            if (*at_ == '%') {
                at_ = line_end();
            } else if (!is_line_end(*at_)) {
                return true;
            } else {
                pass_line_end();
            }
        }
    }

    /// Passes blanks and tabs.
    void skip_blanks()
    {
        while (at_ < end_ && is_blank(*at_)) {
            ++at_;
        }
    }

    /// True also at the end of the text.
    bool at_line_end() const { return at_ == end_ || is_line_end(*at_); }

    /// Characters up to the next blank or line end.
    std::string_view token() const
    {
        auto const* end = at_;
        while (!ends_token(end)) {
            ++end;
        }
        return {at_, end};
    }

    /// Takes the token.
    std::string_view take_token()
    {
        auto const result = token();
        at_ += result.size();
        return result;
    }

    /// Takes what is left of the line, without its end.
    std::string_view take_line()
    {
        auto const* const begin = std::exchange(at_, line_end());
        return {begin, at_};
    }

    /// All that has not been passed yet.
    std::string_view rest() const { return {at_, end_}; }

    /// Reads the token as a decimal integer within 64 bits; stays before it if it is none.
    std::optional<std::int64_t> integer()
    {
        std::int64_t value = 0;
        // Nearly all numbers are short and need no check for overflow at each digit.
        auto const* digit = at_;
        auto const* const most = end_ - at_ > 18 ? at_ + 18 : end_;
        for (; digit < most && *digit >= '0' && *digit <= '9'; ++digit) {
            value = 10 * value + (*digit - '0');
        }
        if (digit > at_ && ends_token(digit)) {
            at_ = digit;
            return value;
        }
        if (accept(value)) {
            return value;
        }
        return {};
    }

    /// Reads the token as a number; stays before it if it is none or beyond the range of `T`.
    template <class T>
    std::optional<T> real()
    {
        T value = 0;
        if (accept(value)) {
            return value;
        }
        return unusual_real<T>();
    }

private:
    static bool is_blank(char c) { return c == ' ' || c == '\t'; }
    static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
    bool ends_token(char const* p) const { return p == end_ || is_blank(*p) || is_line_end(*p); }

    char const* line_end() const
    {
        auto const* end = at_;
        while (end < end_ && !is_line_end(*end)) {
            ++end;
        }
        return end;
    }

    void pass_line_end()
    {
        auto const crlf = *at_ == '\r' && at_ + 1 < end_ && at_[1] == '\n';
        at_ += crlf ? 2 : 1;
        ++line_;
    }

    /// Passes the token if all of it is a number of the type of `value`.
    template <class T>
    bool accept(T& value)
    {
        auto const* begin = at_;
        if (begin < end_ && *begin == '+') {
            ++begin;
            if (begin < end_ && *begin == '-') {
                return false;
            }
        }
        auto const [stop, status] = std::from_chars(begin, end_, value);
        if (status != std::errc{} || !ends_token(stop)) {
            return false;
        }
        at_ = stop;
        return true;
    }

    /// The numbers that `std::from_chars` does not take: those with a Fortran exponent and those
    /// too small for `T`.
    template <class T>
    std::optional<T> unusual_real();

    char const* at_;
    char const* end_;
    std::size_t line_;
};

extern template std::optional<float> Cursor::unusual_real<float>();
extern template std::optional<double> Cursor::unusual_real<double>();

/// Lines that hold more than blanks or a comment.
std::size_t lines_with_data(std::string_view text);

/// True if no digit of a number's mantissa is other than 0.
bool is_written_as_zero(std::string_view number);

} // namespace sparse::matrix_market
