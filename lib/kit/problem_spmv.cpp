#include "kit/problem_spmv.hpp"

#include "sparse/catalogue/generators.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace kit {
namespace {

using PatternOf = std::function<sparse::Pattern<>(Arguments const&, std::uint64_t seed)>;

std::map<std::string, PatternOf> const patterns{
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

/// Without one nonzero in 256, and with another one in 256 a column farther on, where that is free:
/// no structure is exactly what a program may know of its generator, nor tells the length of a row
/// that it is.
sparse::Pattern<> thinned(sparse::Pattern<> pattern, Random& random)
{
    std::int32_t kept = 0;
    std::int32_t p = 0;
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        for (; p < pattern.row_ptr[i + 1]; ++p) {
            auto const column = pattern.col[p];
            auto const drawn = random.below(256);
            auto const end = p + 1 < pattern.row_ptr[i + 1] ? pattern.col[p + 1] : pattern.columns;
            pattern.col[kept] = drawn == 1 && column + 1 < end ? column + 1 : column;
            kept += drawn != 0;
        }
        pattern.row_ptr[i + 1] = kept;
    }
    pattern.col.resize(static_cast<std::size_t>(kept));
    return pattern;
}

Image image(SparseProduct const& problem, std::vector<std::int32_t> const& starts, std::size_t rank,
            Random& random)
{
    auto const& a = problem.a;
    auto const begin = starts[rank];
    auto const end = starts[rank + 1];
    std::vector<std::int32_t> row_ptr(a.row_ptr.begin() + begin, a.row_ptr.begin() + end + 1);
    auto const offset = static_cast<std::size_t>(row_ptr.front());
    std::ranges::for_each(row_ptr, [&](auto& entry) { entry -= static_cast<int>(offset); });
    auto const nonzeros = static_cast<std::size_t>(row_ptr.back());
    // x is dealt as rows are; one rank has all of it, also where the matrix is not square.
    bool const alone = starts.size() == 2;
    auto const first = static_cast<std::size_t>(begin) * problem.vectors;
    auto const count = static_cast<std::size_t>(end - begin) * problem.vectors;
    auto const y = poison<double>(count, random);
    Invocation call{.function = "spmv",
                    .numbers = {end - begin, a.columns},
                    .arrays = {bytes_of(row_ptr),
                               bytes_of(std::span{a.col}.subspan(offset, nonzeros)),
                               bytes_of(std::span{a.values}.subspan(offset, nonzeros)),
                               bytes_of(alone ? std::span{problem.x}
                                              : std::span{problem.x}.subspan(first, count)),
                               bytes_of(y)},
                    .output = 4,
                    .first = first,
                    .grid = 1};
    if (!alone) {
        call.arrays.push_back(bytes_of(starts));
    }
    return image(call, random);
}

double element_of(Result const& result, std::size_t i)
{
    double element = 0;
    std::memcpy(&element, result.bytes.data() + i * sizeof element, sizeof element);
    return element;
}

std::size_t count_of(Result const& result)
{
    return result.bytes.size() / sizeof(double);
}

} // namespace

double SparseProduct::work() const
{
    auto const elements = x.size() + static_cast<std::size_t>(a.rows) * vectors;
    return static_cast<double>(a.bytes() + elements * sizeof(double));
}

std::vector<Image> SparseProduct::images(int ranks, std::uint64_t seed) const
{
    Random random{seed};
    std::vector<std::int32_t> starts;
    for (int rank = 0; rank <= ranks; ++rank) {
        starts.push_back(static_cast<std::int32_t>(std::int64_t{a.rows} * rank / ranks));
    }
    std::vector<Image> result;
    for (int rank = 0; rank < ranks; ++rank) {
        result.push_back(image(*this, starts, static_cast<std::size_t>(rank), random));
    }
    return result;
}

void SparseProduct::expect(bool)
{
    constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
    value.clear();
    bound.clear();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (std::size_t v = 0; v < vectors; ++v) {
            long double sum = 0;
            double magnitude = 0;
            for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                auto const factor = x[static_cast<std::size_t>(a.col[p]) * vectors + v];
                auto const product = static_cast<long double>(a.values[p]) * factor;
                sum += product;
                magnitude += static_cast<double>(std::fabs(product));
            }
            value.push_back(static_cast<double>(sum));
            bound.push_back(2 * (a.row_ptr[i + 1] - a.row_ptr[i] + 1) * unit * magnitude);
        }
    }
}

std::string SparseProduct::complaint(Result const& result)
{
    for (std::size_t i = 0; i < count_of(result); ++i) {
        auto const element = result.first + i;
        auto const y = element_of(result, i);
        if (!(std::fabs(y - value[element]) <= bound[element])) {
            return wrong_element("y[" + std::to_string(element) + "]", y, value[element],
                                 bound[element]);
        }
    }
    return {};
}

std::string SparseProduct::shown(Result const& result) const
{
    std::ostringstream text;
    text.precision(4);
    for (std::size_t i = 0; i < count_of(result); ++i) {
        auto const element = result.first + i;
        auto const row = element / vectors;
        text << "    y[" << element << "] =";
        for (auto p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
            auto const at = static_cast<std::size_t>(a.col[p]) * vectors + element % vectors;
            text << " + " << a.values[p] << " * x[" << at << "]=" << x[at];
        }
        text << "   yours: " << element_of(result, i) << ", expected " << value[element] << "\n";
    }
    return text.str();
}

Generators spmv(Arguments const& settings)
{
    auto const vectors = settings("vectors");
    if (vectors < 1) {
        throw std::invalid_argument("problem spmv: found vectors=" + std::to_string(vectors) +
                                    ", expected at least 1");
    }
    Generators problem;
    for (auto const& kind : patterns) {
        problem[kind.first] = [pattern_of = kind.second, vectors](Arguments const& of,
                                                                  Random& random) {
            auto pattern = thinned(pattern_of(of, random.next()), random);
            auto made = std::make_unique<SparseProduct>();
            made->vectors = static_cast<std::size_t>(vectors);
            made->a.rows = pattern.rows;
            made->a.columns = pattern.columns;
            made->a.row_ptr = std::move(pattern.row_ptr);
            made->a.col = std::move(pattern.col);
            made->a.values.resize(made->a.col.size());
            made->x.resize(static_cast<std::size_t>(made->a.columns) * made->vectors);
            std::ranges::generate(made->a.values, [&] { return real(random.next()); });
            std::ranges::generate(made->x, [&] { return real(random.next()); });
            return made;
        };
    }
    return problem;
}

} // namespace kit
