#pragma once

#include <charconv>
#include <iterator>
#include <string>

namespace spmv {

/// `number` as printf writes it in C's locale, whatever the program's may be: with `digits` digits,
/// behind the point if `format` is fixed, in all if it is general. Under 64 characters.
inline std::string decimal(double number, std::chars_format format, int digits)
{
    char text[64];
    auto const end = std::to_chars(std::begin(text), std::end(text), number, format, digits).ptr;
    return {std::begin(text), end};
}

/// With one digit behind the point.
inline std::string with_tenths(double number)
{
    return decimal(number, std::chars_format::fixed, 1);
}

/// With two digits in all.
inline std::string rough(double number)
{
    return decimal(number, std::chars_format::general, 2);
}

} // namespace spmv
