#include "spmv/plan/check_format.hpp"

#include <doctest/doctest.h>

namespace formats = spmv::formats;
using spmv::testing::check_format;
using spmv::testing::check_unreferenced;
using spmv::testing::kernels_in;
using spmv::testing::structured_cases;

// Formats of runs, narrow columns and blocks.

namespace {

/// Checks a format that stores no zeros; returns how many matrices it refused.
template <class T, class Convert, class Kernel>
int check_without_fill(Convert const& convert, Kernel const& kernel)
{
    for (auto const& test : structured_cases<T>()) {
        check_unreferenced<T>(test, convert, kernel);
    }
    return check_format<T>(convert, kernel);
}

} // namespace

TEST_CASE_TEMPLATE("runs multiply right", T, float, double)
{
    auto const refused = check_without_fill<T>(sparse::to_csrl<T>, kernels_in<formats::csrl::Csrl>);
    CHECK(refused == 0);
}

TEST_CASE_TEMPLATE("packed runs multiply right", T, float, double)
{
    auto const refused = check_without_fill<T>(sparse::to_packed_csrl<T>,
                                               kernels_in<formats::packed_csrl::PackedCsrl>);
    CHECK(refused == 0);
}

TEST_CASE_TEMPLATE("narrow columns multiply right", T, float, double)
{
    auto const refused =
        check_without_fill<T>(sparse::to_delta_csr<T>, kernels_in<formats::delta_csr::DeltaCsr>);
    CHECK(refused == 4); // the very long row with each kind of values
}

TEST_CASE_TEMPLATE("dense blocks multiply right", T, float, double)
{
    for (std::int32_t rows = 1; rows <= 8; ++rows) {
        for (std::int32_t columns = 1; columns <= 8; ++columns) {
            CAPTURE(rows);
            CAPTURE(columns);
            auto const convert = [&](sparse::CsrView<T> const& a) {
                return sparse::to_bcsr(a, {rows, columns});
            };
            auto const kernel = kernels_in<formats::bcsr::Bcsr>;
            auto const refused = rows == columns ? check_format<T>(convert, kernel)
                                                 : check_format<T>(convert, kernel, {3});
            CHECK(refused == (columns == 1 ? 0 : 8)); // the two matrices of one column
        }
    }
}

TEST_CASE_TEMPLATE("full blocks touch no other column", T, float, double)
{
    for (auto const& test : structured_cases<T>()) {
        if (sparse::block_fill(test.a, {3, 3}) == 1.0) {
            check_unreferenced<T>(
                test,
                [](sparse::CsrView<T> const& a) {
                    return sparse::to_bcsr(a, {3, 3});
                },
                kernels_in<formats::bcsr::Bcsr>);
        }
    }
}

TEST_CASE_TEMPLATE("masked blocks multiply right", T, float, double)
{
    for (std::int32_t const rows : {1, 2, 3, 4, 6}) {
        CAPTURE(rows);
        auto const convert = [&](sparse::CsrView<T> const& a) {
            return sparse::to_masked_blocks(a, rows);
        };
        auto const refused =
            check_without_fill<T>(convert, kernels_in<formats::masked_blocks::MaskedBlocks>);
        CHECK(refused == 0);
    }
}
