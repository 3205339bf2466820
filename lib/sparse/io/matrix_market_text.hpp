#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sparse::matrix_market {

/// What is wrong with the bytes a text comes from.
struct Damage
{
    std::string found;    ///< as in an error
    std::string expected; ///< as in an error
};

/// A text that comes in blocks of whole lines.
class Text
{
public:
    virtual ~Text() = default;

    /// The next lines, empty at the end of the text. They stay where they are until the next but
    /// one call.
    virtual std::string_view next() = 0;

    /// Why the text has ended, if it should have gone on.
    virtual std::optional<Damage> damage() const { return {}; }
};

/// Opens a regular file; `.gz` is inflated on the way. Throws `MatrixMarketError`.
std::unique_ptr<Text> open_text(std::filesystem::path const& file);

/// The text in `bytes`, which must outlive it; gzip is known by its first two bytes.
std::unique_ptr<Text> text_in(std::string_view bytes);

/// Throws `MatrixMarketError` for line `line` of the file `name` if the text is damaged.
void expect_undamaged(Text const& text, std::string const& name, std::size_t line);

/// Cuts a text at line ends in pieces of about `bytes` (at least 1).
std::vector<std::string_view> split_lines(std::string_view text, std::size_t bytes);

} // namespace sparse::matrix_market
