#include "dense/banks.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

namespace dense {

namespace {

constexpr std::int32_t most_words = 12 * 1024; ///< 48 KiB

/// Throws std::invalid_argument for what is wrong with a pattern of that name.
[[noreturn]] void refuse(std::string_view name, std::string const& why)
{
    throw std::invalid_argument{"pattern \"" + std::string{name} + "\": " + why};
}

/// Throws std::invalid_argument unless a lane can read so many bytes in one access.
void require_bytes(std::string_view name, std::int64_t bytes)
{
    if (bytes != 4 && bytes != 8 && bytes != 16) {
        refuse(name, "found " + std::to_string(bytes) + " bytes, expected 4, 8 or 16");
    }
}

/// Throws std::invalid_argument unless shared memory has an element of so many bytes at the word.
void require_word(std::string_view name, int bytes, std::int64_t word)
{
    int const words = bytes / 4;
    if (word < 0 || word > most_words - words) {
        refuse(name, "found word " + std::to_string(word) + ", expected 0 to " +
                         std::to_string(most_words - words));
    }
    if (word % words != 0) {
        refuse(name, "found word " + std::to_string(word) + ", expected a multiple of " +
                         std::to_string(words));
    }
}

/// `word` tells the first word of a lane, both std::int64_t.
template <class Word>
AccessPattern pattern(std::string name, int bytes, Word word)
{
    require_bytes(name, bytes);
    AccessPattern made{std::move(name), bytes, {}};
    for (std::int64_t lane = 0; lane < warp_lanes; ++lane) {
        std::int64_t const first = word(lane);
        require_word(made.name, bytes, first);
        made.word[static_cast<std::size_t>(lane)] = static_cast<std::int32_t>(first);
    }
    return made;
}

int number(std::string_view text, std::string_view whole)
{
    int value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        refuse(whole, "found \"" + std::string{text} + "\", expected a number");
    }
    return value;
}

/// Whether each lane wants the same as the one whose number differs in this bit.
bool pairs_agree(AccessPattern const& pattern, std::size_t bit)
{
    for (std::size_t lane = 0; lane < pattern.word.size(); ++lane) {
        if (pattern.word[lane] != pattern.word[lane ^ bit]) {
            return false;
        }
    }
    return true;
}

} // namespace

void require_sound(AccessPattern const& pattern)
{
    require_bytes(pattern.name, pattern.bytes);
    for (auto const word : pattern.word) {
        require_word(pattern.name, pattern.bytes, word);
    }
}

std::int32_t AccessPattern::words() const
{
    return *std::ranges::max_element(word) + bytes / 4;
}

int predicted_cycles(AccessPattern const& pattern, Access access)
{
    require_sound(pattern);
    int const words = pattern.bytes / 4;
    bool const doubles =
        access == Access::read && words > 1 && (pairs_agree(pattern, 1) || pairs_agree(pattern, 2));
    int const at_once = warp_lanes / words * (doubles ? 2 : 1);
    int cycles = 0;
    for (int first = 0; first < warp_lanes; first += at_once) {
        std::array<std::set<std::int32_t>, banks> wanted;
        for (int lane = first; lane < first + at_once; ++lane) {
            for (int i = 0; i < words; ++i) {
                std::int32_t const word = pattern.word[static_cast<std::size_t>(lane)] + i;
                wanted[static_cast<std::size_t>(word % banks)].insert(word);
            }
        }
        std::size_t busiest = 0;
        for (auto const& bank : wanted) {
            busiest = std::max(busiest, bank.size());
        }
        cycles += static_cast<int>(busiest);
    }
    return cycles;
}

int predicted_conflicts(AccessPattern const& pattern)
{
    return predicted_cycles(pattern, Access::write) - pattern.bytes / 4;
}

AccessPattern strided(int stride, int bytes)
{
    auto name = "stride:" + std::to_string(stride);
    if (bytes != 4) {
        name += 'x';
        name += std::to_string(bytes);
    }
    return pattern(name, bytes, [=](std::int64_t lane) { return lane * stride * (bytes / 4); });
}

std::vector<AccessPattern> transposes()
{
    constexpr int side = 32;
    return {
        pattern("transpose-plain", 4, [](std::int64_t lane) { return lane * side; }),
        pattern("transpose-padded", 4, [](std::int64_t lane) { return lane * (side + 1); }),
        pattern("transpose-swizzled", 4,
                [](std::int64_t lane) { return lane * side + (0 ^ lane); }),
    };
}

std::vector<AccessPattern> pack_layouts(int pack, int words)
{
    auto const suffix = std::to_string(pack) + (words == 1 ? "-fp32" : "-fp64");
    require_bytes("pack" + suffix, std::int64_t{4} * words);
    if (pack < 1) {
        refuse("pack" + suffix, "found packs of " + std::to_string(pack) + ", expected 1 or more");
    }
    int const bytes = 4 * words;
    std::vector<AccessPattern> found{
        pattern("adjacent-scalar-pack" + suffix, bytes,
                [=](std::int64_t lane) { return lane * pack * words; }),
        pattern("columns-pack" + suffix, bytes, [=](std::int64_t lane) { return lane * words; }),
    };
    if (pack > 1 && pack <= 16 / bytes) {
        found.push_back(pattern("adjacent-vector-pack" + suffix, pack * bytes,
                                [=](std::int64_t lane) { return lane * pack * words; }));
    }
    return found;
}

std::vector<AccessPattern> shared_elements(int bytes)
{
    int const words = bytes / 4;
    auto const suffix = 'x' + std::to_string(bytes);
    return {
        pattern("same" + suffix, bytes, [](std::int64_t) { return std::int64_t{0}; }),
        pattern("pairs" + suffix, bytes, [=](std::int64_t lane) { return lane / 2 * words; }),
        pattern("fours" + suffix, bytes, [=](std::int64_t lane) { return lane % 4 * words; }),
        pattern("crossed" + suffix, bytes,
                [=](std::int64_t lane) { return (lane / 4 * 2 + lane % 2) * words; }),
    };
}

AccessPattern phase_lines(int bytes)
{
    auto const name = "linesx" + std::to_string(bytes);
    require_bytes(name, bytes);
    int const words = bytes / 4;
    int const at_once = warp_lanes / words;
    return pattern(name, bytes, [=](std::int64_t lane) {
        return lane % at_once * banks + lane / at_once * words;
    });
}

AccessPattern parse_pattern(std::string_view text)
{
    constexpr std::string_view prefix = "stride:";
    if (text.starts_with(prefix)) {
        auto const rest = text.substr(prefix.size());
        auto const times = rest.find('x');
        int const bytes = times == rest.npos ? 4 : number(rest.substr(times + 1), text);
        int const stride = number(rest.substr(0, times), text);
        require_bytes(text, bytes); // or the text would be told in other words
        return strided(stride, bytes);
    }
    AccessPattern made{std::string{text}, 4, {}};
    std::size_t count = 0;
    for (std::size_t begin = 0; begin <= text.size();) {
        auto const end = std::min(text.find(',', begin), text.size());
        if (count < made.word.size()) {
            made.word[count] = number(text.substr(begin, end - begin), text);
        }
        ++count;
        begin = end + 1;
    }
    if (count != made.word.size()) {
        refuse(text, "found " + std::to_string(count) + " words, expected 32, or stride:N");
    }
    require_sound(made);
    return made;
}

} // namespace dense
