#pragma once

#include <string>
#include <string_view>

namespace base {

/// A text, of a file or of its name, that does nothing to a terminal and fits into JSON: controls
/// (also ends of lines), what turns the direction of writing, and bytes that are no UTF-8 are
/// spelled as \x1b.
std::string printable(std::string_view text);

} // namespace base
