#include "kit/report.hpp"

#include <algorithm>
#include <cctype>

namespace kit {
namespace {

constexpr char const* ended_by_a_race = "it ended with exit code 66"; // see box_races.cpp

/// What follows a mark, up to one of the letters that end it; empty where there is no such mark.
std::string behind(std::string const& text, std::string const& mark, char const* end)
{
    auto const at = text.find(mark);
    if (at == std::string::npos) {
        return {};
    }
    auto const begin = at + mark.size();
    constexpr std::size_t longest = 200;
    return text.substr(begin, std::min(text.find_first_of(end, begin) - begin, longest));
}

/// The number of the first line of a file that is named, or nothing.
std::string line_of(std::string const& text, std::string const& file)
{
    constexpr std::size_t longest = 6;
    auto const mark = file + ":";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        auto const begin = text.begin() + static_cast<std::ptrdiff_t>(at + mark.size());
        std::string const number{begin, std::find_if_not(begin, text.end(), [](unsigned char c) {
                                     return std::isdigit(c) != 0;
                                 })};
        if (!number.empty() && number.size() <= longest) {
            return number;
        }
    }
    return {};
}

} // namespace

Finding finding(std::string const& report, std::string const& file, std::string const& fault)
{
    std::string const warning = "WARNING: ThreadSanitizer: ";
    auto const last = report.rfind(warning); // it ends the program: before it anything may stand
    auto const line = line_of(last == std::string::npos ? report : report.substr(last), file);
    auto const where = line.empty() ? "" : " (" + file + ", line " + line + ")";
    if (fault == ended_by_a_race) {
        return {"a race: two threads use the same memory, one of them writes it, and nothing says"
                " who comes first" +
                    where,
                true};
    }
    if (auto const kind = behind(report, "AddressSanitizer: ", " \n"); !kind.empty()) {
        return {"AddressSanitizer found " + kind + where};
    }
    if (auto const what = behind(report, "runtime error: ", "\n"); !what.empty()) {
        return {"UndefinedBehaviorSanitizer found " + what + where};
    }
    return {};
}

} // namespace kit
