#pragma once

#include <string>

namespace kit {

/// What a sanitizer has found, for people.
struct Finding
{
    std::string what; ///< empty where nothing was found
    bool race = false;
};

/// What the report of a sanitizer says: what it is, and in which line of `file` if one of that file
/// is named. A program that kept the report from being written is known by its end, `fault`.
Finding finding(std::string const& report, std::string const& file, std::string const& fault = {});

} // namespace kit
