#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace formats = spmv::formats;
using spmv::testing::check_format;
using spmv::testing::check_unreferenced;
using spmv::testing::kernels_in;
using spmv::testing::structured_cases;

TEST_CASE_TEMPLATE("sliced ELLPACK multiplies right", T, float, double)
{
    for (bool const sorted : {false, true}) {
        for (bool const narrow : {false, true}) {
            for (bool const unit_steps : {false, true}) {
                CAPTURE(sorted);
                CAPTURE(narrow);
                CAPTURE(unit_steps);
                int const parts = narrow ? 1 : 3;
                sparse::SellOptions const options{sorted, narrow, unit_steps, parts};
                auto const convert = [=](sparse::CsrView<T> const& a) {
                    return sparse::to_sell<T>(a, options);
                };
                check_format<T>(convert, kernels_in<formats::sell::SellUnit>);
            }
        }
    }
}

TEST_CASE("sliced ELLPACK sorts rows among those of one part")
{
    auto const pattern = sparse::ragged(1000, 200, 90, 1);
    sparse::Csr<double> const a{pattern.rows, pattern.columns, pattern.row_ptr, pattern.col,
                                sparse::Array<double>(pattern.col.size(), 1.0)};
    for (int const parts : {1, 2, 5, 16, 2000}) {
        CAPTURE(parts);
        auto const sell = sparse::to_sell<double>(a.view(), {.parts = parts});
        REQUIRE(sell.units() == 125);
        double const share = static_cast<double>(a.nonzeros()) / parts;
        std::int32_t crossing = 0; // chunks with rows of parts that are no neighbours
        std::int32_t sorted = 0;
        for (std::int32_t c = 0; c < sell.units(); ++c) {
            if (!sell.chunks[c].sorted()) {
                continue;
            }
            ++sorted;
            double least = parts;
            double most = 0;
            for (std::int32_t i = 8 * c; i < std::min(8 * c + 8, a.rows); ++i) {
                auto const row = i / sparse::sell_window * sparse::sell_window + sell.order[i];
                double const part = static_cast<double>(a.row_ptr[row]) / share;
                least = std::min(least, part);
                most = std::max(most, part);
            }
            crossing += most - least > 1 + 8 * 200 / share ? 1 : 0;
        }
        CHECK(crossing == 0);
        CHECK((parts >= 2000 || sorted > 0));
    }
}

TEST_CASE_TEMPLATE("sliced ELLPACK reads nothing of x that a row does not", T, float, double)
{
    for (auto const& test : spmv::testing::structured_cases<T>()) {
        for (bool const unit_steps : {false, true}) {
            spmv::testing::check_unreferenced<T>(
                test,
                [=](sparse::CsrView<T> const& a) {
                    return sparse::to_sell<T>(a, {.unit_steps = unit_steps});
                },
                kernels_in<formats::sell::SellUnit>);
        }
    }
}

TEST_CASE_TEMPLATE("groups of chunks are alike, whole and without gathering steps", T, float,
                   double)
{
    std::size_t grouped = 0;
    for (auto const& test : spmv::testing::structured_cases<T>()) {
        CAPTURE(test.name);
        auto const a = sparse::to_sell<T>(test.a.view());
        std::int32_t const whole = a.rows / sparse::sell_height<T>;
        for (std::int32_t c = 0; c < a.units(); ++c) {
            if (!a.chunks[c].begins_group()) {
                continue;
            }
            ++grouped;
            REQUIRE(c + sparse::sell_group <= whole);
            auto const& pattern = a.patterns[a.chunks[c].pattern()];
            CHECK(pattern.full + pattern.partial == 0);
            CHECK_FALSE(a.chunks[c].sorted());
            for (std::int32_t k = 1; k < sparse::sell_group; ++k) {
                CHECK(a.chunks[c + k].bits == a.chunks[c].pattern()); // no flag, none begins here
            }
        }
    }
    CHECK(grouped > 0);
}

TEST_CASE_TEMPLATE("a range may begin and end within a group", T, float, double)
{
    spmv::testing::Generator random{3};
    for (auto const& structure : {sparse::poisson2d(16), sparse::banded(150, 71)}) {
        auto const a =
            spmv::testing::make_matrix<T>(structure, spmv::testing::Values::uniform, random);
        auto const x =
            spmv::testing::make_vector<T>(a.columns, spmv::testing::Values::uniform, random);
        auto const sell = sparse::to_sell<T>(a.view());
        for (auto const& set : spmv::format_kernels<T>()) {
            CAPTURE(std::string{set.name});
            std::vector<T> whole(static_cast<std::size_t>(a.rows));
            kernels_in<formats::sell::SellUnit>(set).streamed(sell.view(), x.data(), whole.data(),
                                                              {0, sell.units()});
            for (std::int32_t c = 0; c <= sell.units(); ++c) {
                std::vector<T> y(whole.size(), T(-1));
                kernels_in<formats::sell::SellUnit>(set).cached(sell.view(), x.data(), y.data(),
                                                                {0, c});
                kernels_in<formats::sell::SellUnit>(set).cached(sell.view(), x.data(), y.data(),
                                                                {c, sell.units()});
                CHECK(y == whole);
            }
        }
    }
}
