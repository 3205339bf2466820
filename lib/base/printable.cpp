#include "base/printable.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace base {

namespace {

struct Letter
{
    std::size_t bytes = 0; ///< 0: what stands there is no UTF-8
    std::uint32_t code = 0;
};

/// The letter with which a text begins.
Letter first_letter(std::string_view text)
{
    auto const byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    auto const lead = byte(0);
    if (lead < 0x80) {
        return {1, lead};
    }
    std::size_t const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) {
        return {};
    }
    std::uint32_t code = lead & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) {
            return {};
        }
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    bool const surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[bytes] || code > 0x10ffff || surrogate ? Letter{} : Letter{bytes, code};
}

bool is_shown(std::uint32_t code)
{
    auto const within = [code](std::uint32_t first, std::uint32_t last) {
        return first <= code && code <= last;
    };
    return !within(0, 0x1f) && !within(0x7f, 0x9f) && !within(0x200b, 0x200f) &&
           !within(0x2028, 0x202e) && !within(0x2060, 0x206f) && code != 0xfeff;
}

} // namespace

std::string printable(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string shown;
    while (!text.empty()) {
        auto const letter = first_letter(text);
        auto const bytes = letter.bytes == 0 ? 1 : letter.bytes;
        if (letter.bytes > 0 && is_shown(letter.code)) {
            shown += text.substr(0, bytes);
        } else {
            for (char const c : text.substr(0, bytes)) {
                auto const byte = static_cast<unsigned char>(c);
                shown += {'\\', 'x', digits[byte >> 4U], digits[byte & 0xfU]};
            }
        }
        text.remove_prefix(bytes);
    }
    return shown;
}

} // namespace base
