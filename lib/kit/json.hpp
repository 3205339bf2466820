#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace kit {

/// A text as JSON writes it, with its quotation marks: quotation marks, backslashes and controls in
/// it are escaped (RFC 8259, section 7). What a contender says of itself may hold any of them.
/// By hand: course kits carry the standard library alone.
inline std::string quoted(std::string_view text)
{
    std::string result = "\"";
    for (char const letter : text) {
        auto const byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            result += {'\\', letter};
        } else if (byte < 0x20 || byte == 0x7f) {
            char escaped[7];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned{byte});
            result += escaped;
        } else {
            result += letter;
        }
    }
    return result + '"';
}

} // namespace kit
