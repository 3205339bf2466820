#pragma once

#include <string>

namespace kit {

/// What a sanitizer has found, for people.
struct Finding
{
    std::string what; ///< empty where nothing was found
    bool race = false;
};

/// What the report of a sanitizer says, and in which line of `file` if one of that file is named. A
/// race is known by the end of the program, `fault`, alone: a program writes reports as it likes.
Finding finding(std::string const& report, std::string const& file, std::string const& fault);

} // namespace kit
