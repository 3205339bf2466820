#include "bench/pattern.hpp"

#include <array>
#include <stdexcept>

namespace bench {

Pattern::Pattern(std::string const& text)
{
    auto compiled = std::make_unique<regex_t>();
    auto const code = regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        std::array<char, 256> reason{};
        regerror(code, compiled.get(), reason.data(), reason.size());
        throw std::invalid_argument{"'" + text + "' is no regular expression: " + reason.data()};
    }
    compiled_ = {compiled.release(), [](regex_t* regex) {
                     regfree(regex);
                     delete regex;
                 }};
}

bool Pattern::found_in(std::string const& text) const
{
    return regexec(compiled_.get(), text.c_str(), 0, nullptr, 0) == 0;
}

} // namespace bench
