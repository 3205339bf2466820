#pragma once

#include <regex.h>

#include <memory>
#include <string>

namespace bench {

/// A POSIX extended regular expression, compiled once.
class Pattern
{
public:
    /// Throws std::invalid_argument with the reason if `text` is no regular expression.
    explicit Pattern(std::string const& text);

    /// True if any part of `text` matches.
    bool found_in(std::string const& text) const;

private:
    std::shared_ptr<regex_t> compiled_;
};

} // namespace bench
