#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

namespace formats = spmv::formats;
using spmv::testing::check_format;
using spmv::testing::check_unreferenced;
using spmv::testing::kernels_in;
using spmv::testing::structured_cases;

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
