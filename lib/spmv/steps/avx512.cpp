#include "spmv/steps/simd.hpp"

#include <immintrin.h>

#include <cstdint>

namespace spmv {

//! [avx512_gather]
void avx512_gather(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        __m512 sums = _mm512_setzero_ps();
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 16; p += 16) {
            __m512 const values = _mm512_loadu_ps(&a.values[p]);
            __m512i const columns = _mm512_loadu_si512(col + p);
            __m512 const xs = _mm512_i32gather_ps(columns, x.data(), sizeof(float));
            sums = _mm512_fmadd_ps(values, xs, sums);
        }
        if (p < end) {
            auto const rest = static_cast<__mmask16>((1u << (end - p)) - 1);
            __m512 const values = _mm512_maskz_loadu_ps(rest, &a.values[p]);
            __m512i const columns = _mm512_maskz_loadu_epi32(rest, col + p);
            __m512 const xs =
                _mm512_mask_i32gather_ps(values, rest, columns, x.data(), sizeof(float));
            sums = _mm512_fmadd_ps(values, xs, sums);
        }
        y[i] = _mm512_reduce_add_ps(sums);
    }
}

void avx512_gather(sparse::CsrView<double> const& a, std::span<double const> x, std::span<double> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        __m512d sums = _mm512_setzero_pd();
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 8; p += 8) {
            __m512d const values = _mm512_loadu_pd(&a.values[p]);
            __m256i const columns = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(col + p));
            __m512d const xs = _mm512_i32gather_pd(columns, x.data(), sizeof(double));
            sums = _mm512_fmadd_pd(values, xs, sums);
        }
        if (p < end) {
            auto const rest = static_cast<__mmask8>((1u << (end - p)) - 1);
            __m512d const values = _mm512_maskz_loadu_pd(rest, &a.values[p]);
            __m256i const columns = _mm256_maskz_loadu_epi32(rest, col + p);
            __m512d const xs =
                _mm512_mask_i32gather_pd(values, rest, columns, x.data(), sizeof(double));
            sums = _mm512_fmadd_pd(values, xs, sums);
        }
        y[i] = _mm512_reduce_add_pd(sums);
    }
}
//! [avx512_gather]

} // namespace spmv
