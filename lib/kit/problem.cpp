#include "kit/problem.hpp"

#include "kit/problem_dense.hpp"
#include "kit/problem_softmax.hpp"
#include "kit/problem_spmv.hpp"

#include <bit>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace kit {
namespace {

using Ranges = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

/// Words `argument=value` or `argument=from..to`; `line` is what errors name.
Ranges ranges_of(std::istream& words, std::string const& line)
{
    Ranges ranges;
    for (std::string word; words >> word;) {
        auto const equals = word.find('=');
        auto const dots = word.find("..");
        try {
            auto const from = std::stoll(word.substr(equals + 1));
            auto const to = dots == std::string::npos ? from : std::stoll(word.substr(dots + 2));
            ranges[word.substr(0, equals)] = {from, to};
        } catch (std::exception const&) {
            throw std::invalid_argument(line + ": found '" + word +
                                        "', expected argument=value or argument=from..to");
        }
    }
    return ranges;
}

/// The numbers that were drawn for one input; `whose` needs them.
Arguments arguments(std::map<std::string, std::int64_t> drawn, std::string whose)
{
    return [drawn = std::move(drawn), whose = std::move(whose)](std::string const& wanted) {
        auto const found = drawn.find(wanted);
        if (found == drawn.end()) {
            throw std::invalid_argument(whose + " needs " + wanted);
        }
        return found->second;
    };
}

} // namespace

Generators problem(std::string const& line)
{
    static std::map<std::string, Generators (*)(Arguments const&)> const problems{
        {"spmv", spmv}, {"dense", dense}, {"softmax", softmax}};
    std::istringstream words{line};
    std::string name;
    words >> name;
    if (!problems.contains(name)) {
        throw std::invalid_argument("problem '" + line + "': expected " + [] {
            std::string known;
            for (auto const& [other, make] : problems) {
                known += (known.empty() ? "" : ", ") + other;
            }
            return known;
        }() + " and its settings");
    }
    std::map<std::string, std::int64_t> settings;
    for (auto const& [setting, range] : ranges_of(words, "problem '" + line + "'")) {
        settings[setting] = range.first;
    }
    return problems.at(name)(arguments(std::move(settings), "problem " + name));
}

Family::Family(Generators const& problem, std::string const& line)
{
    std::istringstream words{line};
    words >> name_ >> kind_;
    auto const found = problem.find(kind_);
    if (found == problem.end()) {
        throw std::invalid_argument("case '" + line + "': expected NAME GENERATOR argument=value");
    }
    generator_ = found->second;
    ranges_ = ranges_of(words, "case '" + line + "'");
}

std::unique_ptr<Instance> Family::make(std::uint64_t seed) const
{
    Random random{seed};
    std::map<std::string, std::int64_t> drawn;
    for (auto const& [argument, range] : ranges_) {
        auto const count = static_cast<std::uint64_t>(range.second - range.first + 1);
        drawn[argument] = range.first + static_cast<std::int64_t>(random.below(count));
    }
    return generator_(arguments(std::move(drawn), "case " + name_ + ": " + kind_), random);
}

double real(std::uint64_t bits)
{
    double const unit = static_cast<double>(bits >> 12) * 0x1p-52;
    double const magnitude = 0.0625 + 0.9375 * unit;
    return (bits & 1) != 0 ? magnitude : -magnitude;
}

template <>
std::vector<double> poison(std::size_t count, Random& random)
{
    std::vector<double> result(count);
    for (auto& element : result) {
        element = std::bit_cast<double>(0x7ff8'0000'0000'0000 | random.next() >> 13);
    }
    return result;
}

template <>
std::vector<float> poison(std::size_t count, Random& random)
{
    std::vector<float> result(count);
    for (auto& element : result) {
        element =
            std::bit_cast<float>(static_cast<std::uint32_t>(0x7fc0'0000 | random.next() >> 42));
    }
    return result;
}

std::string wrong_element(std::string const& name, double found, double expected, double bound)
{
    std::ostringstream line;
    line.precision(17);
    line << name << " is " << found << ", expected " << expected;
    if (std::isnan(found)) {
        line << " (" << name.substr(0, name.find('['))
             << " holds NaN before the call: was this element written?)";
    } else {
        line << " within " << bound;
    }
    return line.str();
}

} // namespace kit
