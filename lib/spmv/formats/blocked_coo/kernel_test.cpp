#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

namespace formats = spmv::formats;
using spmv::testing::check_format;
using spmv::testing::kernels_in;

TEST_CASE_TEMPLATE("blocked coordinates multiply right", T, float, double)
{
    auto const check = []<class Index>(auto kernel, Index) {
        auto const whole_cache = sparse::tile_shape<T, Index>(std::size_t{1} << 20, 1);
        for (auto const& shape :
             {whole_cache, sparse::TileShape{200, 100, 8}, sparse::TileShape{3, 7, 1}}) {
            CAPTURE(shape.rows);
            check_format<T>(
                [&](sparse::CsrView<T> const& a) {
                    return sparse::to_blocked_coo<T, Index>(a, shape);
                },
                kernel);
        }
    };
    check(kernels_in<formats::blocked_coo::BlockedCoo<std::uint8_t>>, std::uint8_t{});
    check(kernels_in<formats::blocked_coo::BlockedCoo<std::uint16_t>>, std::uint16_t{});
    check(kernels_in<formats::blocked_coo::BlockedCoo<std::uint32_t>>, std::uint32_t{});
}
