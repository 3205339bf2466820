#include "spmv/steps/simd.hpp"

#include <arm_neon.h>

#include <cstdint>

namespace spmv {

//! [neon]
void neon(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        float32x4_t sums = vdupq_n_f32(0);
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            float32x4_t const values = vld1q_f32(&a.values[p]);
            float32x4_t xs = vld1q_dup_f32(&x[col[p]]);
            xs = vld1q_lane_f32(&x[col[p + 1]], xs, 1);
            xs = vld1q_lane_f32(&x[col[p + 2]], xs, 2);
            xs = vld1q_lane_f32(&x[col[p + 3]], xs, 3);
            sums = vfmaq_f32(sums, values, xs);
        }
        float sum = vaddvq_f32(sums);
        for (; p < end; ++p) {
            sum += a.values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}

void neon(sparse::CsrView<double> const& a, std::span<double const> x, std::span<double> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        float64x2_t sums = vdupq_n_f64(0);
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 2; p += 2) {
            float64x2_t const values = vld1q_f64(&a.values[p]);
            float64x2_t xs = vld1q_dup_f64(&x[col[p]]);
            xs = vld1q_lane_f64(&x[col[p + 1]], xs, 1);
            sums = vfmaq_f64(sums, values, xs);
        }
        double sum = vaddvq_f64(sums);
        for (; p < end; ++p) {
            sum += a.values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}
//! [neon]

} // namespace spmv
