#include "spmv/plan/any_csr.hpp"
#include "spmv/plan/formats.hpp"
#include "spmv/steps/test_matrices.hpp"

#include "sparse/catalogue/generators.hpp"
#include "sparse/features.hpp"

#include <doctest/doctest.h>

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cmath>
#include <limits>
#include <locale>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

// What callers may do to a plan.

using spmv::testing::AnyCsr;
using spmv::testing::filled;

namespace {

constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr auto infinity = std::numeric_limits<double>::infinity();

/// The message of a plan that has to be refused with `std::invalid_argument`.
template <class T = double>
std::string refusal(sparse::CsrView<T> const& a, spmv::PlanOptions const& options = {})
{
    try {
        spmv::Plan<T> const plan{a, options};
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE_TEMPLATE("any arrays are refused or multiplied right", T, float, double)
{
    std::mt19937_64 random{44};
    for (int trial = 0; trial < 3000; ++trial) {
        std::vector<std::uint8_t> bytes(std::size_t{20} + random() % 3000);
        std::ranges::generate(bytes, random);
        CAPTURE(trial);
        CHECK(spmv::testing::wrong_with_plan<T>(bytes) == "");
    }
}

TEST_CASE("what is no matrix is refused with the place, whatever plan is asked for")
{
    AnyCsr<double> const good{3, 4, {0, 2, 2, 4}, {0, 3, 1, 2}, {1, 2, 3, 4}};
    REQUIRE(refusal(good.view()) == "");
    auto const after = [&](auto const& change) {
        auto a = good;
        change(a);
        auto const text = refusal(a.view());
        for (auto const& format : spmv::plan_formats()) {
            CHECK(refusal(a.view(), {.format = std::string{format.name}}) == text);
        }
        CHECK(refusal(a.view(), {.multiplies = 1}) == text);
        CHECK(refusal(a.view(), {.timed = false}) == text);
        return text;
    };
    using Any = AnyCsr<double>;
    CHECK(after([](Any& a) { a = {}; }) ==
          "CSR: found 0 row offsets for 0 rows, expected one more than rows");
    CHECK(after([](Any& a) { a.row_ptr.pop_back(); }) ==
          "CSR: found 3 row offsets for 3 rows, expected one more than rows");
    CHECK(after([](Any& a) { a.rows = -1; }) ==
          "CSR: found -1 rows and 4 columns, expected neither below 0");
    CHECK(after([](Any& a) { a.rows = std::numeric_limits<std::int32_t>::max(); }) ==
          "CSR: found 4 row offsets for 2147483647 rows, expected one more than rows");
    CHECK(after([](Any& a) { a.row_ptr[0] = 1; }) ==
          "CSR: found 1 as the first row offset, expected 0");
    CHECK(after([](Any& a) { a.row_ptr[3] = 5; }) ==
          "CSR: found 5 as the last row offset, expected 4, the number of column indices");
    CHECK(after([](Any& a) { a.row_ptr[1] = 3; }) ==
          "CSR: found row 1 from entry 3 to 2, expected offsets that never fall");
    CHECK(after([](Any& a) { a.row_ptr[1] = -7; }) ==
          "CSR: found row 0 from entry 0 to -7, expected offsets that never fall");
    CHECK(after([](Any& a) { a.col[2] = 4; }) ==
          "CSR: found column 4 in row 2, expected one of the 4 from 0 on");
    CHECK(after([](Any& a) { a.col[1] = -1; }) ==
          "CSR: found column -1 in row 0, expected one of the 4 from 0 on");
    CHECK(after([](Any& a) { a.values.pop_back(); }) ==
          "CSR: found 3 values, expected 4, the number of column indices");
    CHECK(after([](Any& a) { a.columns = 0; }) ==
          "CSR: found column 0 in row 0, expected one of the 0 from 0 on");
}

TEST_CASE("a structure that is none has no features, and no format is made of unsorted rows")
{
    AnyCsr<double> a{2, 3, {0, 2, 3}, {2, 0, 1}, {1, 2, 3}};
    CHECK(sparse::features(sparse::PatternView<>{a.view()}).nonzeros == 3);
    for (auto const& format : spmv::plan_format_table<double>()) {
        CAPTURE(format.name.name);
        spmv::BuildOptions const build{.block_rows = 2, .block_columns = 2};
        auto const make = [&] { format.make(a.view(), spmv::format_kernels<double>(""), build); };
        if (format.borrows) {
            CHECK_NOTHROW(make());
        } else {
            CHECK_THROWS_WITH_AS(
                make(), "CSR: found column 0 behind 2 in row 0, expected columns that ascend",
                std::invalid_argument);
        }
    }
    a.col[1] = 3;
    CHECK_THROWS_AS(sparse::features(sparse::PatternView<>{a.view()}), std::invalid_argument);
}

TEST_CASE_TEMPLATE("rows in any order, with places named twice, give the product of their sums", T,
                   float, double)
{
    auto const sorted = spmv::testing::make_matrix<T>(
        spmv::testing::Shape{"", 300, std::vector<std::int32_t>(500, 20)},
        spmv::testing::Values::integers, *std::make_unique<spmv::testing::Generator>(3));
    auto a = sorted;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::reverse(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1]);
        std::reverse(a.values.begin() + a.row_ptr[i], a.values.begin() + a.row_ptr[i + 1]);
    }
    for (std::int32_t i = 0; i < a.rows; i += 3) { // their entry is that of the one before
        a.col[a.row_ptr[i]] = a.col[a.row_ptr[i] + 1];
    }
    std::vector<T> const x(300, T(0.5));
    auto const expected = spmv::expected<T>(a, x);
    for (auto const& format : spmv::plan_formats()) {
        CAPTURE(format.name);
        try {
            spmv::Plan<T> const plan{a, {.threads = 2, .format = std::string{format.name}}};
            CHECK_FALSE(plan.borrows());
            std::vector<T> y(500);
            plan(x, y);
            CHECK(spmv::testing::first_wrong_row<T>(y, expected) == -1);
        } catch (std::length_error const&) { // it does not suit the matrix
        }
    }
}

TEST_CASE_TEMPLATE("infinity and NaN reach the rows that name them, in every format", T, float,
                   double)
{
    constexpr T special[] = {std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(),
                             std::numeric_limits<T>::quiet_NaN()};
    spmv::testing::Generator random{9};
    for (auto const& [label, pattern] : spmv::testing::classes()) {
        std::string const name{label};
        auto a = filled<T>(pattern);
        for (T& value : a.values) {
            if (random() % 50 == 0) { // stored zeros, the product of which with infinity is NaN
                value = random() % 2 ? T(0) : T(-0.0);
            } else if (random() % 9000 == 0) {
                value = special[random() % 3];
            }
        }
        auto x = spmv::testing::make_vector<T>(a.columns, spmv::testing::Values::uniform, random);
        x[0] = special[0];
        for (int k = 0; k < 6; ++k) {
            x[random() % x.size()] = special[random() % 3];
        }
        auto const expected = spmv::expected<T>(a, x);
        for (auto const& format : spmv::plan_formats()) {
            for (int const threads : {1, 3}) {
                for (auto const& set : spmv::format_kernels<T>()) {
                    CAPTURE(name);
                    CAPTURE(format.name);
                    CAPTURE(threads);
                    CAPTURE(std::string{set.name});
                    try {
                        spmv::Plan<T> const plan{a,
                                                 {.threads = threads,
                                                  .format = std::string{format.name},
                                                  .kernels = set.name}};
                        std::vector<T> y(static_cast<std::size_t>(a.rows));
                        plan(x, y);
                        std::size_t wrong = 0;
                        for (std::size_t i = 0; i < y.size(); ++i) {
                            auto const value = static_cast<T>(expected.value[i]);
                            wrong += std::isfinite(value)
                                         ? !(std::abs(y[i] - value) <= expected.bound[i])
                                         : !spmv::testing::same(y[i], value);
                        }
                        CHECK(wrong == 0);
                    } catch (std::length_error const&) { // it does not suit the matrix
                    }
                }
            }
        }
    }
}

TEST_CASE("options that make no sense are refused")
{
    auto const a = filled<double>(sparse::poisson2d(5));
    for (double const multiplies : {not_a_number, -not_a_number, -1.0, -infinity}) {
        CHECK(refusal(a.view(), {.multiplies = multiplies})
                  .ends_with(" multiplies, expected 0 or more"));
    }
    CHECK(refusal(a.view(), {.threads = std::numeric_limits<int>::max()}) ==
          "plan: found 2147483647 threads, expected at most 8192");
    CHECK(refusal(a.view(), {.threads = std::numeric_limits<int>::min()}) ==
          "plan: found -2147483648 threads, expected 1 or more, or 0 for all");
    // What stores values in single precision is there only for `narrow_values`.
    CHECK(refusal(a.view(), {.format = "sell_single"})
              .starts_with("plan: found format 'sell_single', expected one of csr, "));
    CHECK(refusal(a.view(), {.format = "sellery", .narrow_values = true})
              .starts_with("plan: found format 'sellery', expected one of "));
    CHECK(refusal(a.view(), {.format = "CSR"}) != "");
    CHECK(refusal(a.view(), {.kernels = "avx"}) != "");
    CHECK(refusal<float>(filled<float>(sparse::poisson2d(5)).view(), {.narrow_values = true}) !=
          "");
    CHECK(refusal(a.view(), {.multiplies = 0}) == "");
    CHECK(refusal(a.view(), {.multiplies = infinity}) == "");
}

TEST_CASE("x and y that overlap are refused, neighbours are not")
{
    auto const a = filled<double>(sparse::poisson2d(4));
    spmv::Plan<double> const plan{a, {.threads = 1}};
    std::vector<double> memory(40, 1.0);
    auto const part = [&](std::size_t from) { return std::span{memory}.subspan(from, 16); };
    for (std::size_t const from : {0, 1, 15}) {
        CHECK_THROWS_AS(plan(part(from), part(0)), std::invalid_argument);
        CHECK_THROWS_AS(plan(part(0), part(from)), std::invalid_argument);
    }
    CHECK_NOTHROW(plan(part(0), part(16)));
    CHECK_NOTHROW(plan(part(16), part(0)));
    CHECK_THROWS_AS(plan(std::span{memory}.first(15), part(20)), std::invalid_argument);
    CHECK_THROWS_AS(plan(part(20), std::span{memory}.first(17)), std::invalid_argument);
    CHECK_THROWS_AS(plan({}, {}), std::invalid_argument);
}

namespace {

/// Numbers as in Germany.
struct Comma : std::numpunct<char>
{
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

} // namespace

TEST_CASE("a plan explains itself in no locale")
{
    auto const a = filled<double>(sparse::stencil27(12));
    auto const words = [&] {
        std::string const text = spmv::Plan<double>{a, {.threads = 1, .timed = false}}.explain();
        return text.substr(0, text.find(", ready after")) + text.substr(text.find("predicted"));
    };
    auto const plain = words();
    auto const before = std::locale::global(std::locale{std::locale{}, new Comma});
    for (char const* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "C"}) { // those that are here
        std::setlocale(LC_ALL, name);
        CHECK(words() == plain);
        CHECK(refusal(a.view(), {.threads = -12345}).find(" -12345 ") != std::string::npos);
        CHECK(refusal(a.view(), {.multiplies = -1.5}).find(" -1.5 ") != std::string::npos);
    }
    std::locale::global(before);
}

TEST_CASE("a child of a fork goes on with plans of one thread")
{
    auto const a = filled<double>(sparse::stencil27(12));
    std::vector<double> const x(static_cast<std::size_t>(a.columns), 0.3);
    std::vector<double> first(x.size());
    spmv::Plan<double> const plan{a, {.threads = 1}};
    plan(x, first);
    auto const child = fork();
    if (child == 0) {
        alarm(20);
        std::vector<double> y(x.size());
        plan(x, y);
        omp_set_num_threads(1);
        std::vector<double> z(x.size());
        spmv::Plan<double>{a, {.threads = 1, .format = std::string{plan.format()}}}(x, z);
        _exit(y == first && z == first ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
