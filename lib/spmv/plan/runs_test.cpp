#include "spmv/plan/check_format.hpp"

#include <doctest/doctest.h>

namespace formats = spmv::formats;
using spmv::testing::check_format;
using spmv::testing::kernels_of;
using spmv::testing::check_unreferenced;
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
    auto const refused =
        check_without_fill<T>(sparse::to_csrl<T>, [](auto& set) { return kernels_of<formats::csrl::Csrl>(set); });
    CHECK(refused == 0);
}

TEST_CASE_TEMPLATE("packed runs multiply right", T, float, double)
{
    auto const refused =
        check_without_fill<T>(sparse::to_packed_csrl<T>, [](auto& set) { return kernels_of<formats::packed_csrl::PackedCsrl>(set); });
    CHECK(refused == 0);
}

TEST_CASE_TEMPLATE("narrow columns multiply right", T, float, double)
{
    auto const refused =
        check_without_fill<T>(sparse::to_delta_csr<T>, [](auto& set) { return kernels_of<formats::delta_csr::DeltaCsr>(set); });
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
            auto const refused = check_format<T>(convert, [](auto& set) { return kernels_of<formats::bcsr::Bcsr>(set); });
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
                [](auto& set) { return kernels_of<formats::bcsr::Bcsr>(set); });
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
            check_without_fill<T>(convert, [](auto& set) { return kernels_of<formats::masked_blocks::MaskedBlocks>(set); });
        CHECK(refused == 0);
    }
}
