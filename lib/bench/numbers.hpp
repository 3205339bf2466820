#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace bench {

/// The largest value of an axis and of options of experiments: as many as an index of 32 bits
/// counts, so that a product of two fits into 64.
inline constexpr std::int64_t most_of_axis = std::numeric_limits<std::int32_t>::max();

/// The whole number that `text` is in decimal digits, from `least` to `most`. Throws
/// std::invalid_argument with one line that names `option` for anything else.
std::int64_t whole_number(std::string const& option, std::string const& text, std::int64_t least,
                          std::int64_t most);

/// The finite number that `text` is, from `least` to `most`. Throws as above.
double finite_number(std::string const& option, std::string const& text, double least,
                     double most = std::numeric_limits<double>::max());

} // namespace bench
