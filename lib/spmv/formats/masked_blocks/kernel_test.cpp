#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

namespace formats = spmv::formats;
using spmv::testing::check_without_fill;
using spmv::testing::kernels_in;

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
