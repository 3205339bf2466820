#include "kit/problem_softmax.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

/// Of the whole check, with which the quicker one agrees.
std::string complaint(kit::RowProblem& rows, std::vector<float> const& y)
{
    rows.expect(false);
    auto const of_quicker = rows.complaint({0, kit::bytes_of(y)});
    rows.expect(true);
    auto const of_whole = rows.complaint({0, kit::bytes_of(y)});
    CHECK(of_quicker.substr(0, of_quicker.find(' ')) == of_whole.substr(0, of_whole.find(' ')));
    return of_whole;
}

kit::RowProblem made(kit::RowTask task, int rows, int columns, int offset = 0)
{
    kit::Random random{3};
    return {task, rows, columns, offset, random};
}

/// Of one row, in float and in order.
std::vector<float> softmax(std::vector<float> const& x, float subtracted)
{
    std::vector<float> y(x.size());
    std::ranges::transform(x, y.begin(), [&](float v) { return std::exp(v - subtracted); });
    float sum = 0;
    for (float const element : y) {
        sum += element;
    }
    std::ranges::for_each(y, [&](float& element) { element /= sum; });
    return y;
}

} // namespace

TEST_CASE("sums in float pass, and a number that is left out is found")
{
    auto rows = made(kit::RowTask::sum, 2, 30'000);
    std::vector<float> y(2);
    for (std::size_t i = 0; i < rows.x().size(); ++i) {
        y[i / 30'000] += rows.x()[i];
    }
    CHECK(complaint(rows, y) == "");
    CHECK(rows.work() == (60'000 + 2) * sizeof(float));
    auto few = made(kit::RowTask::sum, 1, 300);
    float sum = 0;
    for (float const x : few.x()) {
        sum += x;
    }
    CHECK(complaint(few, {sum}) == "");
    CHECK(complaint(few, {sum - few.x()[7]}).starts_with("y[0] is "));
    CHECK(complaint(few, {std::numeric_limits<float>::quiet_NaN()}).find("written") !=
          std::string::npos);
}

TEST_CASE("softmax in float passes where the largest number is subtracted first")
{
    for (int const offset : {0, 500}) {
        auto row = made(kit::RowTask::softmax, 1, 5000, offset);
        auto const right = softmax(row.x(), std::ranges::max(row.x()));
        CHECK(complaint(row, right) == "");
        CHECK(complaint(row, softmax(row.x(), 0)).empty() == (offset == 0));
        auto half = right;
        std::ranges::for_each(half, [](float& y) { y *= 1 + 0x1p-11F; });
        CHECK(complaint(row, half).starts_with("y[0][0] is "));
    }
}

TEST_CASE("rows of numbers are of one rank, and few of them are shown")
{
    auto rows = made(kit::RowTask::softmax, 2, 2);
    CHECK_THROWS_WITH(rows.images(2, 1), "rows of numbers are of one rank, found 2");
    CHECK(rows.is_small());
    rows.expect(true);
    auto const picture = rows.shown({0, kit::bytes_of(std::vector<float>(4))});
    CHECK(picture.find("x[1][1] = ") != std::string::npos);
    CHECK(picture.find("yours 0") != std::string::npos);
}
