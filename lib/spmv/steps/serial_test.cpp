#include "spmv/steps/flag_ladder.hpp"
#include "spmv/steps/serial.hpp"
#include "spmv/steps/simd.hpp"
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
    for (auto const table : {spmv::simd_kernels<T>(), spmv::flag_ladder<T>()}) {
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
