#pragma once

#include <filesystem>
#include <string_view>

/// \file
/// What programs write: to standard output and to files. Nothing here fails without a word: all
/// throws std::system_error with the place and the system's reason, a file that outgrows its limit
/// (`ulimit -f`) included.

namespace base {

/// Writes to standard output, to its end before it returns. Where nobody reads it any more, as
/// behind `| head`, the program ends as others do: by SIGPIPE, without a line.
void print(std::string_view text);

/// Throws std::invalid_argument unless `write_whole` may make that file or replace it: what is
/// there already must be a regular file, and no folder or device.
void require_replaceable(std::filesystem::path const& file);

/// Writes a file whole or not at all: under the name with `.part` behind it, to the end of the
/// medium, and then in the place of `file`. Throws, also std::invalid_argument as above, with all
/// as it was before.
void write_whole(std::filesystem::path const& file, std::string_view text);

/// Writes to the end of a file, and to the end of the medium before it returns.
void append(std::filesystem::path const& file, std::string_view text);

} // namespace base
