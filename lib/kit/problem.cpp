#include "kit/problem.hpp"

#include "base/random.hpp"
#include "sparse/catalogue/generators.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace kit {
namespace {

using Arguments = std::function<std::int64_t(std::string const&)>;
using Generator = std::function<sparse::Pattern<>(Arguments const&, std::uint64_t seed)>;

std::map<std::string, Generator> const generators{
    {"poisson2d", [](auto const& of, auto) { return sparse::poisson2d(of("n")); }},
    {"stencil27", [](auto const& of, auto) { return sparse::stencil27(of("n")); }},
    {"fem3", [](auto const& of, auto) { return sparse::fem3(of("n")); }},
    {"fem3_shuffled",
     [](auto const& of, auto seed) { return sparse::fem3_shuffled(of("n"), of("window"), seed); }},
    {"banded", [](auto const& of, auto) { return sparse::banded(of("rows"), of("width")); }},
    {"random_rows",
     [](auto const& of, auto seed) {
         return sparse::random_rows(of("rows"), of("columns"), of("per_row"), seed);
     }},
    {"rmat",
     [](auto const& of, auto seed) { return sparse::rmat(of("scale"), of("edges"), seed); }},
    {"dense_rows",
     [](auto const& of, auto seed) {
         return sparse::dense_rows(of("rows"), of("full"), of("per_row"), of("window"), seed);
     }},
    {"short_rows",
     [](auto const& of, auto seed) { return sparse::short_rows(of("rows"), of("window"), seed); }},
    {"local_rows",
     [](auto const& of, auto seed) {
         return sparse::local_rows(of("rows"), of("nonzeros"), of("window"), seed);
     }},
    {"runs",
     [](auto const& of, auto seed) {
         return sparse::runs(of("rows"), of("per_row"), of("segments"), of("window"), seed);
     }},
    {"dense", [](auto const& of, auto) { return sparse::dense(of("rows"), of("columns")); }},
    {"empty", [](auto const& of, auto) { return sparse::empty(of("rows"), of("columns")); }},
    {"ragged",
     [](auto const& of, auto seed) {
         return sparse::ragged(of("rows"), of("columns"), of("longest"), seed);
     }},
};

/// A real of magnitude 1/16 to 1 with a random sign: none is so small that leaving it out would
/// pass.
double real(std::uint64_t bits)
{
    double const unit = static_cast<double>(bits >> 12) * 0x1p-52;
    double const magnitude = 0.0625 + 0.9375 * unit;
    return (bits & 1) != 0 ? magnitude : -magnitude;
}

/// Without one nonzero in 256: no structure is exactly what a program may know of its generator.
sparse::Pattern<> thinned(sparse::Pattern<> pattern, base::Random& random)
{
    std::int32_t kept = 0;
    std::int32_t p = 0;
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        for (; p < pattern.row_ptr[i + 1]; ++p) {
            pattern.col[kept] = pattern.col[p];
            kept += random.below(256) != 0;
        }
        pattern.row_ptr[i + 1] = kept;
    }
    pattern.col.resize(static_cast<std::size_t>(kept));
    return pattern;
}

} // namespace

double Instance::bytes() const
{
    return static_cast<double>(a.bytes() + (x.size() + static_cast<std::size_t>(a.rows) * vectors) *
                                               sizeof(double));
}

Family::Family(std::string const& line)
{
    std::istringstream words{line};
    words >> name_ >> generator_;
    if (!generators.contains(generator_)) {
        throw std::invalid_argument("case '" + line + "': expected NAME GENERATOR argument=value");
    }
    for (std::string word; words >> word;) {
        auto const equals = word.find('=');
        auto const dots = word.find("..");
        try {
            auto const from = std::stoll(word.substr(equals + 1));
            auto const to = dots == std::string::npos ? from : std::stoll(word.substr(dots + 2));
            ranges_[word.substr(0, equals)] = {from, to};
        } catch (std::exception const&) {
            throw std::invalid_argument("case '" + line + "': found '" + word +
                                        "', expected argument=value or argument=from..to");
        }
    }
}

Instance Family::make(std::uint64_t seed, int vectors) const
{
    base::Random random{seed};
    std::map<std::string, std::int64_t> drawn;
    for (auto const& [argument, range] : ranges_) {
        auto const count = static_cast<std::uint64_t>(range.second - range.first + 1);
        drawn[argument] = range.first + static_cast<std::int64_t>(random.below(count));
    }
    auto const argument = [&](std::string const& wanted) {
        auto const found = drawn.find(wanted);
        if (found == drawn.end()) {
            throw std::invalid_argument("case " + name_ + ": " + generator_ + " needs " + wanted);
        }
        return found->second;
    };
    auto pattern = thinned(generators.at(generator_)(argument, random.next()), random);

    Instance problem;
    problem.vectors = vectors;
    problem.a.rows = pattern.rows;
    problem.a.columns = pattern.columns;
    problem.a.row_ptr = std::move(pattern.row_ptr);
    problem.a.col = std::move(pattern.col);
    problem.a.values.resize(problem.a.col.size());
    problem.x.resize(static_cast<std::size_t>(problem.a.columns) * vectors);
    std::ranges::generate(problem.a.values, [&] { return real(random.next()); });
    std::ranges::generate(problem.x, [&] { return real(random.next()); });
    return problem;
}

Expected expected(Instance const& problem)
{
    auto const& a = problem.a;
    constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
    Expected result;
    auto const vectors = static_cast<std::size_t>(problem.vectors);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (std::size_t v = 0; v < vectors; ++v) {
            long double sum = 0;
            double magnitude = 0;
            for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                auto const x = problem.x[static_cast<std::size_t>(a.col[p]) * vectors + v];
                auto const product = static_cast<long double>(a.values[p]) * x;
                sum += product;
                magnitude += static_cast<double>(std::fabs(product));
            }
            result.value.push_back(static_cast<double>(sum));
            result.bound.push_back(2 * (a.row_ptr[i + 1] - a.row_ptr[i] + 1) * unit * magnitude);
        }
    }
    return result;
}

std::string complaint(Expected const& expected, std::size_t first, std::size_t count,
                      double const* y)
{
    for (std::size_t i = 0; i < count; ++i) {
        auto const element = first + i;
        if (std::fabs(y[i] - expected.value[element]) <= expected.bound[element]) {
            continue;
        }
        std::ostringstream line;
        line.precision(17);
        line << "y[" << element << "] is " << y[i] << ", expected " << expected.value[element];
        if (std::isnan(y[i])) {
            line << " (y holds NaN before the call: was this element written?)";
        } else {
            line << " within " << expected.bound[element];
        }
        return line.str();
    }
    return {};
}

std::string shown(Instance const& problem, Expected const& expected, std::size_t first,
                  std::vector<double> const& y)
{
    auto const& a = problem.a;
    std::ostringstream text;
    text.precision(4);
    auto const vectors = static_cast<std::size_t>(problem.vectors);
    for (std::size_t i = 0; i < y.size(); ++i) {
        auto const element = first + i;
        auto const row = element / vectors;
        text << "    y[" << element << "] =";
        for (auto p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
            auto const at = static_cast<std::size_t>(a.col[p]) * vectors + element % vectors;
            text << " + " << a.values[p] << " * x[" << at << "]=" << problem.x[at];
        }
        text << "   yours: " << y[i] << ", expected " << expected.value[element] << "\n";
    }
    return text.str();
}

} // namespace kit
