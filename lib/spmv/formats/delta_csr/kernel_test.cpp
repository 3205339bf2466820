#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

namespace formats = spmv::formats;
using spmv::testing::check_without_fill;
using spmv::testing::kernels_in;

TEST_CASE_TEMPLATE("narrow columns multiply right", T, float, double)
{
    auto const refused =
        check_without_fill<T>(sparse::to_delta_csr<T>, kernels_in<formats::delta_csr::DeltaCsr>);
    CHECK(refused == 4); // the very long row with each kind of values
}
