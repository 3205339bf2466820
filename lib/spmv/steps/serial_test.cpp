#include "spmv/steps/flag_ladder.hpp"
#include "spmv/steps/one_run.hpp"
#include "spmv/steps/serial.hpp"
#include "spmv/steps/simd.hpp"
#include "spmv/steps/suspects.hpp"
#include "spmv/steps/test_matrices.hpp"

#include <doctest/doctest.h>

#include <set>

using spmv::testing::check_on_awkward_matrices;
using spmv::testing::Multiply;

TEST_CASE_TEMPLATE("the steps in plain C++ multiply right", T, float, double)
{
    std::vector<spmv::Kernel<T>> const steps{
        {"textbook", spmv::textbook<T>, ""},
        {"accumulator", spmv::accumulator<T>, ""},
        {"rows_in_turn", spmv::rows_in_turn<T>, ""},
        {"restrict_pointers", spmv::restrict_pointers<T>, ""},
        {"unroll4", spmv::unroll4<T>, ""},
        {"unroll4_scalar", spmv::unroll4_scalar<T>, ""},
        {"prefetch", spmv::prefetch<T>, ""},
    };
    for (auto const& step : steps) {
        CAPTURE(step.name);
        check_on_awkward_matrices<T>([&](sparse::CsrView<T> const& a) -> Multiply<T> {
            return [&step, a](std::span<T const> x, std::span<T> y) { step(a, x, y); };
        });
    }
}

TEST_CASE_TEMPLATE("aligned arrays multiply right", T, float, double)
{
    check_on_awkward_matrices<T>([](sparse::CsrView<T> const& a) -> Multiply<T> {
        return [a = spmv::AlignedCsr<T>{a}](std::span<T const> x, std::span<T> y) {
            spmv::aligned<T>(a, x, y);
        };
    });
}

TEST_CASE_TEMPLATE("an aligned copy equals its source and starts on cache lines", T, float, double)
{
    spmv::testing::Generator random{3};
    spmv::testing::Shape const shape{"", 9, {2, 0, 7}};
    auto const a = spmv::testing::make_matrix<T>(shape, spmv::testing::Values::uniform, random);
    spmv::AlignedCsr<T> const copy{a};
    CHECK(std::ranges::equal(copy.row_ptr, a.row_ptr));
    CHECK(std::ranges::equal(copy.col, a.col));
    CHECK(std::ranges::equal(copy.values, a.values));
    CHECK(copy.bytes() == a.bytes());
    for (void const* start :
         {static_cast<void const*>(copy.row_ptr.data()), static_cast<void const*>(copy.col.data()),
          static_cast<void const*>(copy.values.data())}) {
        CHECK(reinterpret_cast<std::uintptr_t>(start) % 64 == 0);
    }
}

TEST_CASE_TEMPLATE("the kernels of both tables multiply right where they can run", T, float, double)
{
    std::set<std::string_view> names;
    for (auto const table :
         {spmv::simd_kernels<T>(), spmv::flag_ladder<T>(), spmv::flags_removed<T>()}) {
        for (auto const& kernel : table) {
            CAPTURE(kernel.name);
            CHECK(names.insert(kernel.name).second);
            CHECK(kernel.available() == (kernel.function != nullptr));
            if (kernel.available()) {
                check_on_awkward_matrices<T>([&](sparse::CsrView<T> const& a) -> Multiply<T> {
                    return [&kernel, a](std::span<T const> x, std::span<T> y) { kernel(a, x, y); };
                });
            }
        }
    }
}

TEST_CASE("kernels for rows of one run multiply such matrices right")
{
    spmv::testing::Generator random{9};
    for (auto const& pattern : {sparse::banded(300, 37), sparse::banded(5, 0), sparse::dense(7, 1),
                                sparse::dense(3, 70'000), sparse::empty(4, 4)}) {
        auto const a = spmv::testing::filled<double>(pattern);
        CHECK(spmv::has_one_run_a_row<double>(a) == (a.columns <= 1 << 16));
        auto const x =
            spmv::testing::make_vector<double>(a.columns, spmv::testing::Values::uniform, random);
        auto const expected = spmv::expected<double>(a, x);
        auto const is_right = [&](auto const& multiply) {
            std::vector<double> y(a.rows, std::numeric_limits<double>::quiet_NaN());
            multiply(y);
            return spmv::testing::first_wrong_row<double>(y, expected) == -1;
        };
        for (auto const& kernel : spmv::vectors_of_x()) {
            CAPTURE(kernel.name);
            CHECK((!kernel.available() || is_right([&](auto& y) { kernel(a, x, y); })));
        }
        spmv::OneRunCsr without{a};
        without.offset = {};
        CHECK(is_right([&](auto& y) { spmv::no_columns(without, x, y); }));
        if (a.columns <= 1 << 16) {
            CHECK(is_right([&](auto& y) { spmv::offsets16(spmv::OneRunCsr{a}, x, y); }));
        }
    }
}

TEST_CASE("rows of several runs are told from rows of one")
{
    auto const is_one_run = [](sparse::Pattern<> const& pattern) {
        return spmv::has_one_run_a_row<double>(spmv::testing::filled<double>(pattern));
    };
    CHECK(is_one_run(sparse::runs(50, 6, 1, 40, 1)));
    CHECK_FALSE(is_one_run(sparse::runs(50, 6, 2, 40, 1)));
    CHECK_FALSE(is_one_run(sparse::poisson2d(9)));
}

TEST_CASE_TEMPLATE("where a suspect is taken away, all else stays", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        auto const even = spmv::equal_rows(test.a);
        CHECK(even.row_ptr.front() == 0);
        CHECK(even.row_ptr.back() == test.a.row_ptr.back());
        for (std::int32_t i = 0; i < even.rows; ++i) {
            auto const length = even.row_ptr[i + 1] - even.row_ptr[i];
            auto const shortest = static_cast<std::int32_t>(even.nonzeros()) / even.rows;
            CHECK((length == shortest || length == shortest + 1));
        }
        CHECK(std::ranges::equal(even.col, test.a.col));
        CHECK(std::ranges::equal(even.values, test.a.values));
        auto const ordered = spmv::x_in_order(test.a);
        CHECK(std::ranges::equal(ordered.row_ptr, test.a.row_ptr));
        CHECK(std::ranges::equal(ordered.values, test.a.values));
        for (std::size_t p = 0; p < ordered.nonzeros(); ++p) {
            if (ordered.col[p] != static_cast<std::int32_t>(p % ordered.columns)) {
                FAIL("at " << p);
            }
        }
    }
}

TEST_CASE_TEMPLATE("shuffled rows are the same rows", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        auto const rows_of = [](sparse::Csr<T> const& a) {
            std::vector<std::vector<std::pair<std::int32_t, T>>> rows(a.rows);
            for (std::int32_t i = 0; i < a.rows; ++i) {
                for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                    rows[i].emplace_back(a.col[p], a.values[p]);
                }
            }
            std::ranges::sort(rows);
            return rows;
        };
        CHECK(rows_of(spmv::shuffled_rows(test.a)) == rows_of(test.a));
    }
}

TEST_CASE_TEMPLATE("halves of a matrix, and rows as long as those of another", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        auto const first = spmv::half_of(test.a, true);
        auto const second = spmv::half_of(test.a, false);
        CHECK(first.rows + second.rows == test.a.rows);
        CHECK(first.nonzeros() + second.nonzeros() == test.a.nonzeros());
        CHECK(first.nonzeros() <= test.a.nonzeros() / 2);
        std::vector<T> y(test.a.rows);
        spmv::accumulator<T>(first, test.x, std::span{y}.first(first.rows));
        spmv::accumulator<T>(second, test.x, std::span{y}.subspan(first.rows));
        CHECK(spmv::testing::first_wrong_row<T>(y, test.expected) == -1);

        auto const recut = spmv::in_rows_of(second, test.a);
        CHECK(recut.rows == test.a.rows);
        CHECK(std::ranges::is_sorted(recut.row_ptr));
        CHECK(recut.row_ptr.back() == static_cast<std::int32_t>(recut.nonzeros()));
        CHECK(std::ranges::equal(recut.values, second.values));
    }
}

TEST_CASE("the processor that was built for offers something")
{
    auto const kernels = spmv::simd_kernels<float>();
    auto const runs = [](auto const& kernel) { return kernel.available(); };
#if defined(__aarch64__)
    CHECK(std::ranges::count_if(kernels, runs) == 1);
#else
    CHECK(std::ranges::count_if(kernels, runs) <= 3);
#endif
}

TEST_CASE("no flag of a kernel reached the linker: denormal numbers are not flushed to zero")
{
    float const volatile smallest = std::numeric_limits<float>::denorm_min();
    float const volatile twice = smallest + smallest;
    CHECK(twice != 0);
}
