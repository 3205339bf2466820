#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

namespace formats = spmv::formats;
using spmv::testing::check_without_fill;
using spmv::testing::kernels_in;

TEST_CASE_TEMPLATE("runs multiply right", T, float, double)
{
    auto const refused = check_without_fill<T>(sparse::to_csrl<T>, kernels_in<formats::csrl::Csrl>);
    CHECK(refused == 0);
}
