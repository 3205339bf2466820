// Compiled without the vectoriser, as `unroll4_scalar` is.
#include "spmv/steps/one_run.hpp"

namespace spmv {

//! [offsets16]
[[gnu::flatten]] void offsets16(OneRunCsr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        std::int32_t const first = a.first[i];
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            sum0 += a.values[p] * x[first + a.offset[p]];
            sum1 += a.values[p + 1] * x[first + a.offset[p + 1]];
            sum2 += a.values[p + 2] * x[first + a.offset[p + 2]];
            sum3 += a.values[p + 3] * x[first + a.offset[p + 3]];
        }
        for (; p < end; ++p) {
            sum0 += a.values[p] * x[first + a.offset[p]];
        }
        y[i] = (sum0 + sum1) + (sum2 + sum3);
    }
}
//! [offsets16]

//! [no_columns]
[[gnu::flatten]] void no_columns(OneRunCsr const& a, std::span<double const> x, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        std::int32_t p = a.row_ptr[i];
        std::int32_t const shift = a.first[i] - p;
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            sum0 += a.values[p] * x[shift + p];
            sum1 += a.values[p + 1] * x[shift + p + 1];
            sum2 += a.values[p + 2] * x[shift + p + 2];
            sum3 += a.values[p + 3] * x[shift + p + 3];
        }
        for (; p < end; ++p) {
            sum0 += a.values[p] * x[shift + p];
        }
        y[i] = (sum0 + sum1) + (sum2 + sum3);
    }
}
//! [no_columns]

} // namespace spmv
