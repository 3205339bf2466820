#include "kit/problem_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace kit {
namespace {

constexpr double unit = std::numeric_limits<float>::epsilon() / 2;
constexpr double least = 1e-30; // of a result; below it, 0 is as good

float share_of(Result const& result, std::size_t i)
{
    float element = 0;
    std::memcpy(&element, result.bytes.data() + i * sizeof element, sizeof element);
    return element;
}

Generator generator(RowTask task)
{
    return [task](Arguments const& of, Random& random) {
        auto const rows = of("rows");
        auto const columns = of("columns");
        if (rows < 1 || columns < 1 || rows * columns > std::int64_t{1} << 30) {
            throw std::invalid_argument("rows of numbers: found rows=" + std::to_string(rows) +
                                        " columns=" + std::to_string(columns) +
                                        ", expected at least 1 of each and 2^30 elements at most");
        }
        return std::make_unique<RowProblem>(task, static_cast<std::int32_t>(rows),
                                            static_cast<std::int32_t>(columns), of("offset"),
                                            random);
    };
}

} // namespace

RowProblem::RowProblem(RowTask task, std::int32_t rows, std::int32_t columns, std::int64_t offset,
                       Random& random)
    : task_{task}, rows_{rows}, columns_{columns}, of_sums_{8 * std::sqrt(
                                                                    static_cast<double>(columns))},
      x_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns))
{
    std::ranges::generate(x_, [&] {
        return static_cast<float>(static_cast<double>(offset) + 16 * random.unit() - 8);
    });
}

std::size_t RowProblem::width() const
{
    return task_ == RowTask::sum ? 1 : static_cast<std::size_t>(columns_);
}

std::size_t RowProblem::outputs() const
{
    return static_cast<std::size_t>(rows_) * width();
}

double RowProblem::work() const
{
    return static_cast<double>((x_.size() + outputs()) * sizeof(float));
}

std::vector<Image> RowProblem::images(int ranks, std::uint64_t seed) const
{
    if (ranks != 1) {
        throw std::invalid_argument("rows of numbers are of one rank, found " +
                                    std::to_string(ranks));
    }
    Random random{seed};
    auto const y = poison<float>(outputs(), random);
    return {image({.function = task_ == RowTask::sum ? "row_sums" : "softmax",
                   .numbers = {rows_, columns_},
                   .arrays = {bytes_of(x_), bytes_of(y)},
                   .output = 1,
                   .first = 0,
                   .grid = 1},
                  random)};
}

void RowProblem::expect(bool whole)
{
    auto const columns = static_cast<std::size_t>(columns_);
    facts_.clear();
    power_.resize(task_ == RowTask::sum ? 0 : x_.size());
    for (std::size_t begin = 0; begin < x_.size(); begin += columns) {
        auto const row = std::span{x_}.subspan(begin, columns);
        Facts facts{.most = std::ranges::max(row), .sum = 0, .magnitude = 0};
        for (std::size_t j = 0; j < columns; ++j) {
            auto element = row[j];
            if (task_ == RowTask::softmax) {
                auto const distance = row[j] - facts.most;
                element =
                    whole ? static_cast<float>(std::exp(double{distance})) : std::exp(distance);
                power_[begin + j] = element;
            }
            facts.sum += element;
            facts.magnitude += std::fabs(element);
        }
        facts_.push_back(facts);
    }
}

RowProblem::Expected RowProblem::expected(std::size_t row, std::size_t i) const
{
    auto const& facts = facts_[row];
    if (task_ == RowTask::sum) {
        return {facts.sum, unit * (4 + of_sums_) * facts.magnitude};
    }
    auto const value = power_[i] / facts.sum;
    auto const distance = std::fabs(double{x_[i]} - facts.most);
    return {value, std::max(unit * (64 + 4 * distance + of_sums_) * value, least)};
}

std::string RowProblem::complaint(Result const& result)
{
    for (std::size_t row = 0; row < facts_.size(); ++row) {
        for (std::size_t i = row * width(); i < (row + 1) * width(); ++i) {
            auto const y = share_of(result, i);
            auto const [value, bound] = expected(row, i);
            if (!(std::fabs(y - value) <= bound)) {
                auto const column = "[" + std::to_string(i - row * width()) + "]";
                return wrong_element("y[" + std::to_string(row) + "]" +
                                         (task_ == RowTask::sum ? "" : column),
                                     y, value, bound);
            }
        }
    }
    return {};
}

std::string RowProblem::shown(Result const& result) const
{
    std::ostringstream text;
    text.precision(4);
    for (std::size_t i = 0; i < x_.size(); ++i) {
        text << "    x[" << i / static_cast<std::size_t>(columns_) << "]["
             << i % static_cast<std::size_t>(columns_) << "] = " << x_[i];
        if (i < outputs()) {
            text << "   y: yours " << share_of(result, i) << ", expected "
                 << expected(i / width(), i).value;
        }
        text << "\n";
    }
    return text.str();
}

Generators softmax(Arguments const&)
{
    return {{"row_sums", generator(RowTask::sum)}, {"softmax", generator(RowTask::softmax)}};
}

} // namespace kit
