#pragma once

#include <cstdio>
#include <string>

namespace spmv {

/// `number` in a printf format with one conversion, under 64 characters. By the C library, so that
/// the installed library links no formatter for its few words.
inline std::string decimal(char const* format, double number)
{
    char text[64];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

} // namespace spmv
