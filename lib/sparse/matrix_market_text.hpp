#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sparse::matrix_market {

/// A text that comes in blocks of whole lines.
class Text
{
public:
    virtual ~Text() = default;

    /// The next lines, empty at the end of the text. They stay where they are until the next but
    /// one call. Throws `MatrixMarketError`.
    virtual std::string_view next() = 0;
};

/// Opens a regular file; `.gz` is inflated on the way. Throws `MatrixMarketError`.
std::unique_ptr<Text> open_text(std::filesystem::path const& file);

/// The text in `bytes`, which must outlive it; gzip is known by its first two bytes.
std::unique_ptr<Text> text_in(std::string_view bytes, std::string const& name);

/// What can be told about lines without reading them.
struct Census
{
    std::size_t lines = 0; ///< line ends
    std::size_t data = 0;  ///< lines that begin with neither a line end nor a comment sign
};

/// Counts lines; `text` begins at the start of a line. CRLF is one line end.
Census census(std::string_view text);

/// Cuts a text at line ends in pieces of about `bytes` (at least 1).
std::vector<std::string_view> split_lines(std::string_view text, std::size_t bytes);

} // namespace sparse::matrix_market
