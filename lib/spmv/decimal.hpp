#pragma once

#include <cstdio>
#include <string>

namespace spmv {

/// A number in a printf format of its own: the library links nothing for its few words.
inline std::string decimal(char const* format, double number)
{
    char text[64];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

} // namespace spmv
