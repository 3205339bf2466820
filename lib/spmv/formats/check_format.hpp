#pragma once

#include "spmv/formats/kernels.hpp"
#include "spmv/steps/test_matrices.hpp"

#include "sparse/catalogue/generators.hpp"
#include "sparse/parallel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// \file
/// What the kernel of every format has to pass. For tests only.

namespace spmv::testing {

/// A matrix of this structure with values of a kind.
template <class T>
sparse::Csr<T> make_matrix(sparse::Pattern<> const& structure, Values kind, Generator& random)
{
    sparse::Csr<T> a{structure.rows, structure.columns, structure.row_ptr, structure.col, {}};
    a.values.resize(a.col.size());
    fill<T>(a.values, kind, false, random);
    return a;
}

/// Small matrices full of runs and blocks, with exact values.
template <class T>
std::vector<TestProduct<T>> const& structured_cases()
{
    static auto const made = [] {
        std::pair<char const*, sparse::Pattern<>> const structures[] = {
            {"fem3", sparse::fem3(4)},
            {"fem3_shuffled", sparse::fem3_shuffled(5, 32, 1)},
            {"banded", sparse::banded(150, 71)},
            {"stencil27", sparse::stencil27(5)},
            {"poisson2d", sparse::poisson2d(9)},
            {"runs", sparse::runs(211, 40, 3, 100, 5)},
            {"dense, wide", sparse::dense(11, 131)},
            {"dense, tall", sparse::dense(47, 13)},
            {"ragged", sparse::ragged(123, 57, 40, 5)},
        };
        Generator random{13};
        std::vector<TestProduct<T>> cases;
        for (auto const& [name, structure] : structures) {
            auto a = make_matrix<T>(structure, Values::integers, random);
            auto x = make_vector<T>(a.columns, Values::integers, random);
            auto expected = spmv::expected<T>(a, x);
            std::ranges::fill(expected.bound, 0);
            cases.push_back({name, std::move(a), std::move(x), std::move(expected)});
        }
        return cases;
    }();
    return made;
}

/// The kernels of a format in a set.
template <class Format>
constexpr auto kernels_in = [](auto const& set) -> auto const&
{
    return set.template of<Format>();
};

/// The forms of a kernel.
template <class Format, class T>
auto forms_of(KernelsOf<Format, T> const& kernels)
{
    return std::vector{kernels.cached, kernels.streamed, kernels.gathering};
}

/// Multiplies by a format in `parts` parts of equal work, on as many threads as there are.
template <class Format, class Kernel>
auto in_parts(Format const& format, Kernel kernel, int parts)
{
    return [&format, kernel, parts](auto x, auto y) {
        auto const work = [&](std::int32_t unit) { return format.work_before(unit); };
        auto const ranges = balanced_parts(format.units(), parts, work);
        sparse::parallel_for(ranges.size(), [&](std::size_t part) {
            kernel(format.view(), x.data(), y.data(), ranges[part]);
        });
    };
}

#ifndef __has_feature // Clang has it
#define __has_feature(feature) 0
#endif
/// Into how many parts a multiply is cut; where races are looked for, which takes long, some.
#if __has_feature(thread_sanitizer)
inline std::vector<int> const usual_parts = {5};
#else
inline std::vector<int> const usual_parts = {1, 2, 3, 8};
#endif

/// Checks all forms of a kernel of every instruction set on the awkward and the structured
/// matrices, cut into each of these numbers of parts, and returns how many of them `convert`
/// refused with `std::length_error`. `convert(a)` returns a format with `units()`,
/// `work_before(unit)` and `view()`; `kernel(set)` is its kernel in that set.
template <class T, class Convert, class Kernel>
int check_format(Convert const& convert, Kernel const& kernel,
                 std::vector<int> const& numbers_of_parts = usual_parts)
{
    int refused = 0;
    auto const check = [&](TestProduct<T> const& test) {
        CAPTURE(test.name);
        try {
            auto const format = convert(test.a.view());
            CHECK(format.work_before(0) == 0);
            for (auto const& set : format_kernels<T>()) {
                CAPTURE(std::string{set.name});
                for (auto* const form : forms_of(kernel(set))) {
                    for (int const parts : numbers_of_parts) {
                        CAPTURE(parts);
                        check_multiply<T>(test, in_parts(format, form, parts));
                    }
                }
            }
        } catch (std::length_error const&) {
            ++refused;
        }
    };
    std::ranges::for_each(cases<T>(), check);
    std::ranges::for_each(structured_cases<T>(), check);
    return refused;
}

/// Checks that elements of `x` which are infinite or NaN reach exactly the rows that have an entry
/// in their column.
template <class T, class Convert, class Kernel>
void check_unreferenced(TestProduct<T> const& test, Convert const& convert, Kernel const& kernel)
{
    CAPTURE(test.name);
    auto const poisoned = [](std::int32_t column) { return column % 19 > 15; };
    auto x = test.x;
    for (std::int32_t j = 0; j < test.a.columns; ++j) {
        if (poisoned(j)) {
            x[j] = j % 2 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
        }
    }
    auto const format = convert(test.a.view());
    for (auto const& set : format_kernels<T>()) {
        CAPTURE(std::string{set.name});
        for (auto* const form : forms_of(kernel(set))) {
            std::vector<T> y(static_cast<std::size_t>(test.a.rows));
            in_parts(format, form, 1)(std::span<T const>{x}, std::span<T>{y});
            std::int32_t wrong = 0;
            for (std::int32_t i = 0; i < test.a.rows; ++i) {
                auto const row = std::span{test.a.col}.subspan(
                    test.a.row_ptr[i], test.a.row_ptr[i + 1] - test.a.row_ptr[i]);
                wrong += std::ranges::any_of(row, poisoned) ? std::isfinite(y[i])
                                                            : y[i] != test.expected.value[i];
            }
            REQUIRE(wrong == 0);
        }
    }
}

/// Checks a format that stores no zeros; returns how many matrices it refused.
template <class T, class Convert, class Kernel>
int check_without_fill(Convert const& convert, Kernel const& kernel)
{
    for (auto const& test : structured_cases<T>()) {
        check_unreferenced<T>(test, convert, kernel);
    }
    return check_format<T>(convert, kernel);
}

} // namespace spmv::testing
