#pragma once

#include <string>

namespace kit {

/// What a sanitizer has found, for people.
struct Finding
{
    std::string what; ///< empty where nothing was found
    bool race = false;
};

/// The first thing that the report of a sanitizer says: what it is, and in which line of `file` if
/// one of that file is named.
Finding finding(std::string const& report, std::string const& file);

} // namespace kit
