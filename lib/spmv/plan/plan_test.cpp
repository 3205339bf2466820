#include "spmv/plan.hpp"
#include "spmv/plan/formats.hpp"
#include "spmv/plan/shared_work.hpp"
#include "spmv/steps/test_matrices.hpp"

#include "sparse/catalogue/generators.hpp"

#include <doctest/doctest.h>

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

using spmv::testing::check_on_awkward_matrices;
using spmv::testing::classes;
using spmv::testing::filled;
using spmv::testing::Multiply;

namespace {

template <class T>
std::vector<T> product(spmv::Plan<T> const& plan, sparse::Csr<T> const& a, std::vector<T> const& x)
{
    std::vector<T> y(static_cast<std::size_t>(a.rows), T(-77));
    plan(x, y);
    return y;
}

} // namespace

TEST_CASE_TEMPLATE("a plan multiplies the awkward matrices right", T, float, double)
{
    for (int const threads : {1, 2, 3, 8}) {
        CAPTURE(threads);
        check_on_awkward_matrices<T>([&](sparse::CsrView<T> const& a) -> Multiply<T> {
            spmv::PlanOptions options{.threads = threads};
            if (threads > 1) { // small as it is, it would get one
                options.format = spmv::Plan<T>{a, options}.format();
            }
            auto const plan = std::make_shared<spmv::Plan<T>>(a, options);
            return [plan](std::span<T const> x, std::span<T> y) { (*plan)(x, y); };
        });
    }
}

TEST_CASE_TEMPLATE("what a plan does not borrow may go", T, float, double)
{
    for (auto const& [label, pattern] : classes()) {
        std::string const name{label};
        for (auto const format : spmv::plan_formats()) {
            CAPTURE(name);
            CAPTURE(format.name);
            auto a = filled<T>(pattern);
            spmv::testing::Generator random{7};
            auto const x =
                spmv::testing::make_vector<T>(a.columns, spmv::testing::Values::uniform, random);
            std::unique_ptr<spmv::Plan<T>> plan;
            try {
                plan = std::make_unique<spmv::Plan<T>>(
                    a, spmv::PlanOptions{.threads = 2, .format = std::string{format.name}});
            } catch (std::length_error const&) {
                continue;
            }
            auto const before = product(*plan, a, x);
            if (!plan->borrows()) {
                std::ranges::fill(a.row_ptr, -1);
                std::ranges::fill(a.col, -1);
                std::ranges::fill(a.values, T(-77));
            }
            CHECK(product(*plan, a, x) == before);
            CHECK((plan->borrows() || format.name != "csr" || name == "dnrow" || name == "wide" ||
                   name == "rmat"));
        }
    }
}

TEST_CASE_TEMPLATE("every format of a plan multiplies right or refuses", T, float, double)
{
    for (auto const& [label, pattern] : classes()) {
        std::string const name{label};
        CAPTURE(name);
        auto const a = filled<T>(pattern);
        spmv::testing::Generator random{6};
        auto const x =
            spmv::testing::make_vector<T>(a.columns, spmv::testing::Values::uniform, random);
        auto const expected = spmv::expected<T>(a, x);
        for (auto const& format : spmv::plan_formats()) {
            for (int const threads : {1, 3}) {
                CAPTURE(format.name);
                CAPTURE(threads);
                try {
                    spmv::Plan<T> const plan{
                        a, {.threads = threads, .format = std::string{format.name}}};
                    CHECK(plan.format() == format.name);
                    CHECK(spmv::testing::first_wrong_row<T>(product(plan, a, x), expected) == -1);
                } catch (std::length_error const& refusal) {
                    CHECK_MESSAGE(std::string{refusal.what()}.size() > 20,
                                  "a refusal tells readers of pages why: found only \"",
                                  refusal.what(), "\", expected more than 20 characters");
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("every format multiplies right with every instruction set, cold and warm", T,
                   float, double)
{
    for (auto const& [label, pattern] : classes()) {
        std::string const name{label};
        CAPTURE(name);
        auto const a = filled<T>(pattern);
        std::vector<T> const x(static_cast<std::size_t>(a.columns), T(0.3));
        auto const expected = spmv::expected<T>(a, x);
        for (auto const& set : spmv::format_kernels<T>()) {
            for (auto const& format : spmv::plan_formats()) {
                for (bool const cold : {false, true}) {
                    CAPTURE(set.name);
                    CAPTURE(format.name);
                    CAPTURE(cold);
                    try {
                        spmv::Plan<T> const plan{a,
                                                 {.threads = 2,
                                                  .cold = cold,
                                                  .format = std::string{format.name},
                                                  .kernels = set.name}};
                        CHECK(spmv::testing::first_wrong_row<T>(product(plan, a, x), expected) ==
                              -1);
                    } catch (std::length_error const&) { // it does not suit the matrix
                    }
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("a plan is deterministic, also used by several threads at once", T, float,
                   double)
{
    for (auto const& [label, pattern] : classes()) {
        std::string const name{label};
        CAPTURE(name);
        auto const a = filled<T>(pattern);
        std::vector<T> const x(static_cast<std::size_t>(a.columns), T(0.3));
        for (int const threads : {1, 2}) {
            spmv::Plan<T> const plan{a, {.threads = threads, .timed = false}};
            auto const first = product(plan, a, x);
            auto const same = [&](std::vector<T> const& y) {
                return std::memcmp(y.data(), first.data(), y.size() * sizeof(T)) == 0;
            };
            CHECK(same(product(plan, a, x)));
            CHECK(same(product(spmv::Plan<T>{a, {.threads = threads, .timed = false}}, a, x)));
            std::vector<std::vector<T>> results(3);
            std::vector<std::thread> callers;
            for (auto& result : results) {
                callers.emplace_back([&] { result = product(plan, a, x); });
            }
            for (auto& caller : callers) {
                caller.join();
            }
            CHECK(std::ranges::all_of(results, same));
        }
    }
}

TEST_CASE_TEMPLATE("parts that any thread may take do not change the result", T, float, double)
{
    for (auto const& [label, pattern] : classes()) {
        std::string const name{label};
        auto const a = filled<T>(pattern);
        std::vector<T> const x(static_cast<std::size_t>(a.columns), T(0.3));
        for (auto const& format : spmv::plan_format_table<T>()) {
            CAPTURE(name);
            CAPTURE(format.name.name);
            auto const multiply = [&](spmv::BuildOptions build) {
                build.block_rows = build.block_columns = 2;
                std::vector<T> y(static_cast<std::size_t>(a.rows), T(-1));
                auto const made = format.make(a, spmv::format_kernels<T>(""), build);
                spmv::for_each_part(build.threads, build.shares,
                                    [&](int part) { made->multiply(part, x.data(), y.data()); });
                return y;
            };
            std::vector<T> whole;
            try {
                whole = multiply({.threads = 3}); // their number may order sums
            } catch (std::length_error const&) {
                continue; // the format cannot hold the matrix
            }
            CHECK(multiply({.threads = 3, .shares = 5}) == whole);
            CHECK(multiply({.threads = 3, .shares = 16}) == whole);
        }
    }
}

TEST_CASE("a multiply that takes long is cut to more shares, one that does not is not")
{
    CHECK(spmv::useful_shares(1e9, 1) == 1);
    CHECK(spmv::useful_shares(1e9, 2) == 16);
    CHECK(spmv::useful_shares(5e3, 16) == 1);
    CHECK(spmv::useful_shares(20e3, 2) == 1);
    CHECK(spmv::useful_shares(25e3, 2) == 2);
    CHECK(spmv::useful_shares(30e3, 16) == 10);
    auto const a = filled<double>(sparse::random_rows(60'000, 60'000, 20, 1));
    std::vector<double> const x(60'000, 0.3);
    spmv::Plan<double> const shared{a, {.threads = 8, .format = "csr"}};
    CHECK(shared.explain().find(" shares each") != std::string::npos);
    spmv::Plan<double> const alone{a, {.threads = 1, .format = "csr"}};
    CHECK(alone.explain().find(" shares each") == std::string::npos);
    CHECK(product(shared, a, x) == product(alone, a, x));
}

TEST_CASE("long rows in pieces are shared too")
{
    auto const a = filled<double>(sparse::dense_rows(60'000, 4, 12, 5000, 1));
    std::vector<double> const x(60'000, 0.3);
    auto const expected = spmv::expected<double>(a, x);
    for (char const* format : {"sell_unit", "csr", "csrl", "blocked_coo32"}) {
        CAPTURE(format);
        spmv::Plan<double> const plan{a, {.threads = 8, .format = format}};
        CHECK(plan.explain().find(" shares each") != std::string::npos);
        CHECK(spmv::testing::first_wrong_row<double>(product(plan, a, x), expected) == -1);
    }
    CHECK(spmv::Plan<double>{a, {.threads = 8, .format = "sell_unit"}}.explain().find(
              "4 rows in") != std::string::npos);
}

TEST_CASE_TEMPLATE("plans that are made and used at the same time do not disturb each other", T,
                   float, double)
{
    auto const a = filled<T>(sparse::stencil27(12));
    auto const b = filled<T>(sparse::dense_rows(9000, 3, 6, 500, 1));
    auto const multiply = [](sparse::Csr<T> const& matrix) {
        std::vector<T> const x(static_cast<std::size_t>(matrix.columns), T(0.3));
        return product(spmv::Plan<T>{matrix, {.threads = 2, .timed = false}}, matrix, x);
    };
    auto const repeat = [&](sparse::Csr<T> const& matrix, std::vector<std::vector<T>>& results) {
        std::ranges::generate(results, [&] { return multiply(matrix); });
    };
    std::vector<std::vector<T>> of_a(5);
    std::vector<std::vector<T>> of_b(5);
    std::thread other{[&] { repeat(a, of_a); }};
    repeat(b, of_b);
    other.join();
    CHECK(of_a == std::vector(of_a.size(), multiply(a)));
    CHECK(of_b == std::vector(of_b.size(), multiply(b)));
}

TEST_CASE("values stored in single precision give the product of the rounded matrix")
{
    auto const a = filled<double>(sparse::stencil27(9));
    auto rounded = a;
    for (double& value : rounded.values) {
        value = static_cast<double>(static_cast<float>(value));
    }
    std::vector<double> const x(static_cast<std::size_t>(a.columns), 0.3);
    spmv::PlanOptions narrow{.threads = 1, .format = "sell_unit", .narrow_values = true};
    spmv::Plan<double> const plan{a, narrow};
    narrow.cold = true;
    spmv::Plan<double> const streamed{a, narrow};
    auto const expected = spmv::expected<double>(rounded, x);
    CHECK(spmv::testing::first_wrong_row<double>(product(plan, a, x), expected) == -1);
    CHECK(spmv::testing::first_wrong_row<double>(product(streamed, a, x), expected) == -1);
    CHECK(plan.bytes() <
          0.7 * static_cast<double>(spmv::Plan<double>{a, {.format = "sell_unit"}}.bytes()));
    CHECK(plan.explain().find("sell_single") != std::string::npos);
}

TEST_CASE_TEMPLATE("a timed plan multiplies right and keeps one of the formats", T, float, double)
{
    for (auto const& [label, pattern] : classes()) {
        std::string const name{label};
        CAPTURE(name);
        auto const a = filled<T>(pattern);
        spmv::testing::Generator random{8};
        auto const x =
            spmv::testing::make_vector<T>(a.columns, spmv::testing::Values::uniform, random);
        auto const expected = spmv::expected<T>(a, x);
        for (int const threads : {1, 2}) {
            CAPTURE(threads);
            spmv::Plan<T> const plan{a, {.threads = threads}};
            CHECK(spmv::testing::first_wrong_row<T>(product(plan, a, x), expected) == -1);
            CHECK(plan.threads() <= threads);
            auto const formats = spmv::plan_formats();
            CHECK(std::ranges::find(formats, plan.format(), &spmv::FormatName::name) !=
                  formats.end());
        }
    }
}

TEST_CASE_TEMPLATE("one row, none, and rows that are all empty", T, float, double)
{
    sparse::Csr<T> const matrices[] = {{1, 4, {0, 3}, {0, 2, 3}, {1, 2, 3}},
                                       {0, 4, {0}, {}, {}},
                                       {0, 0, {0}, {}, {}},
                                       {5, 4, {0, 0, 0, 0, 0, 0}, {}, {}}};
    for (auto const& a : matrices) {
        CAPTURE(a.rows);
        std::vector<T> const x(static_cast<std::size_t>(a.columns), T(0.5));
        std::vector<T> y(static_cast<std::size_t>(a.rows));
        for (std::int32_t i = 0; i < a.rows; ++i) {
            for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                y[i] += a.values[p] * T(0.5);
            }
        }
        for (bool const timed : {false, true}) {
            for (int const threads : {1, 9}) {
                CHECK(product(spmv::Plan<T>{a, {.threads = threads, .timed = timed}}, a, x) == y);
            }
        }
    }
}

namespace {

bool names_a_time(std::string const& text)
{
    return text.find(" timed ") != std::string::npos;
}

std::atomic<double> fake_now = 0;

double stands_still()
{
    return 7;
}

/// Goes back at every other look, and an hour ahead at some.
double jumps()
{
    static std::atomic<int> look = 0;
    int const now = ++look;
    return now % 2 == 0 ? -now : now % 5 == 0 ? 3600.0 * now : now;
}

/// Gives the formats that take longest the best times: each look costs less than the one before.
double runs_down()
{
    fake_now = fake_now * 0.99 + 1;
    return fake_now;
}

int quickest_look = 0;
int looks = 0;

/// Gives the best times to what is timed about `quickest_look`.
double dips()
{
    ++looks;
    fake_now = fake_now + 1 + 0.05 * std::abs(looks - quickest_look);
    return fake_now;
}

/// An hour has gone by when CSR has been timed, at its fifth look.
double runs_out()
{
    static std::atomic<int> look = 0;
    int const now = ++look;
    return now < 5 ? 1e-6 * now : 3600.0;
}

} // namespace

TEST_CASE("where time is over before a second format was timed, the table decides")
{
    auto const a = filled<double>(sparse::stencil27(60));
    spmv::Plan<double> const untimed{a, {.threads = 1, .timed = false}};
    CHECK(spmv::Plan<double>{a, {.threads = 1, .clock = runs_out}}.format() == untimed.format());
}

TEST_CASE_TEMPLATE("a clock that stands still or jumps chooses something that is right", T, float,
                   double)
{
    auto const a = filled<T>(sparse::stencil27(12));
    std::vector<T> const x(static_cast<std::size_t>(a.columns), T(0.3));
    auto const expected = spmv::expected<T>(a, x);
    for (auto* const clock : {stands_still, jumps, runs_down}) {
        spmv::Plan<T> const plan{a, {.threads = 2, .clock = clock}};
        CHECK(spmv::testing::first_wrong_row<T>(product(plan, a, x), expected) == -1);
    }
    CHECK(spmv::Plan<T>{a, {.clock = stands_still}}.format() == "csr"); // nothing was faster
}

TEST_CASE("two plans that are timed at the same time are both right")
{
    auto const a = filled<double>(sparse::stencil27(12));
    std::vector<double> const x(static_cast<std::size_t>(a.columns), 0.3);
    auto const expected = spmv::expected<double>(a, x);
    std::array<std::vector<double>, 2> results;
    std::vector<std::thread> callers;
    for (auto& result : results) {
        callers.emplace_back([&] {
            result = product(spmv::Plan<double>{a, {.threads = 2}}, a, x);
        });
    }
    for (auto& caller : callers) {
        caller.join();
    }
    for (auto const& result : results) {
        CHECK(spmv::testing::first_wrong_row<double>(result, expected) == -1);
    }
}

TEST_CASE("formats are timed where that can pay, and only there")
{
    auto const a = filled<double>(sparse::stencil27(12));
    auto const timed = [&](spmv::PlanOptions options) {
        options.threads = 1;
        return names_a_time(spmv::Plan<double>{a, options}.explain());
    };
    CHECK(timed({}));
    CHECK(timed({.multiplies = 5000}));
    CHECK_FALSE(timed({.multiplies = 10}));
    CHECK_FALSE(timed({.timed = false}));
    CHECK_FALSE(timed({.format = "csr"}));
    CHECK_FALSE(timed({.format = "sell_unit", .narrow_values = true}));
}

TEST_CASE("cold multiplies are timed where they take long beside emptying the caches")
{
    auto const timed = [](sparse::Pattern<> const& pattern) {
        spmv::Plan<double> const plan{filled<double>(pattern), {.threads = 1, .cold = true}};
        return names_a_time(plan.explain());
    };
    CHECK_FALSE(timed(sparse::poisson2d(4)));
    CHECK(timed(sparse::stencil27(60)));
}

TEST_CASE_TEMPLATE("without a clock the same matrix always gets the same format", T, float, double)
{
    for (auto const& [name, pattern] : classes()) {
        auto const a = filled<T>(pattern);
        spmv::PlanOptions const options{.threads = 1, .timed = false};
        auto const format = spmv::Plan<T>{a, options}.format();
        for (int repeat = 0; repeat < 3; ++repeat) {
            CHECK(spmv::Plan<T>{a, options}.format() == format);
        }
    }
}

TEST_CASE("threads that would take longer to wake than they save are left asleep")
{
    auto const threads = [](sparse::Pattern<> const& pattern, spmv::PlanOptions options) {
        options.threads = 8;
        spmv::Plan<double> const plan{filled<double>(pattern), options};
        bool const is_alone = plan.explain().find("others would take longer") != std::string::npos;
        CHECK(is_alone == (plan.threads() == 1));
        return plan.threads();
    };
    CHECK(threads(sparse::poisson2d(4), {}) == 1);
    CHECK(threads(sparse::poisson2d(4), {.cold = true}) == 1);
    CHECK(threads(sparse::poisson2d(4), {.timed = false}) == 1);
    CHECK(threads(sparse::poisson2d(4), {.multiplies = 1}) == 8);
    CHECK(threads(sparse::poisson2d(4), {.format = "sell_unit"}) == 8);
    CHECK(threads(sparse::stencil27(12), {}) == 8);
    CHECK(threads(sparse::empty(9, 9), {}) == 8);
}

TEST_CASE("a conversion that cannot pay is not made")
{
    auto const a = filled<double>(sparse::stencil27(20));
    CHECK(spmv::Plan<double>{a, {.threads = 1, .multiplies = 1}}.format() == "csr");
    CHECK(spmv::Plan<double>{a, {.threads = 1, .timed = false}}.format() != "csr");
}

TEST_CASE("a plan explains itself in one line")
{
    for (auto const& [name, pattern] : classes()) {
        auto const a = filled<double>(pattern);
        spmv::Plan<double> const plan{a, {.threads = 1}};
        auto const text = plan.explain();
        CAPTURE(text);
        CHECK(text.find('\n') == std::string::npos);
        CHECK(text.starts_with(plan.format()));
        CHECK(text.find("bytes per nonzero") != std::string::npos);
    }
}

TEST_CASE_TEMPLATE("the formats of the winner's family are timed too", T, float, double)
{
    auto const is_timed = [](std::string const& text, std::string const& name) {
        auto const at = text.find(' ' + name + ' ', text.find("predicted"));
        return at != std::string::npos &&
               text.substr(at, text.find_first_of(",;", at) - at).find("timed") !=
                   std::string::npos;
    };
    auto const a = filled<T>(sparse::random_rows(3000, 500'000, 10, 3));
    auto const all = spmv::Plan<T>{a, {.threads = 1, .timed = false}}.explain();
    auto const formats = spmv::plan_formats();
    std::ptrdiff_t most = 0;
    for (quickest_look = 5; quickest_look < 120; quickest_look += 5) {
        looks = 0;
        spmv::Plan<T> const plan{a, {.threads = 1, .clock = dips}};
        auto const won = std::ranges::find(formats, plan.format(), &spmv::FormatName::name);
        std::string const text = plan.explain();
        CAPTURE(text);
        most = std::max(most, std::ranges::count_if(formats, [&](auto const& format) {
                            return is_timed(text, std::string{format.name});
                        }));
        for (auto const& format : formats) {
            std::string const name{format.name};
            bool const is_candidate = all.find(' ' + name + ' ') != std::string::npos;
            if (is_candidate && format.excerpt == won->excerpt) {
                CAPTURE(name);
                CHECK(is_timed(text, name));
            }
        }
    }
    CHECK(most > 6); // more than the six that were ranked best
}

TEST_CASE("what makes no sense is refused with the value found")
{
    auto const a = filled<double>(sparse::poisson2d(5));
    using spmv::Plan;
    std::vector<double> x(25);
    std::vector<double> y(24);
    CHECK_THROWS_WITH_AS(Plan<double>(a, {.threads = -1}),
                         "plan: found -1 threads, expected 1 or more, or 0 for all",
                         std::invalid_argument);
    CHECK_THROWS_AS(Plan<double>(a, {.format = "elsewhere"}), std::invalid_argument);
    CHECK_THROWS_WITH_AS(Plan<double>(a, {.kernels = "mmx"}),
                         doctest::Contains("plan: found kernels 'mmx', expected one of "),
                         std::invalid_argument);
    CHECK_THROWS_AS(Plan<double>(a, {.format = "csr", .narrow_values = true}),
                    std::invalid_argument);
    Plan<double> const plan{a};
    CHECK_THROWS_AS(plan(x, y), std::invalid_argument);
}
