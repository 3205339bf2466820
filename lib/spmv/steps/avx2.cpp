#include "spmv/steps/simd.hpp"

#include <immintrin.h>

#include <cstdint>

namespace spmv {

namespace {

float horizontal_sum(__m128 v)
{
    __m128 const pairs = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(pairs, _mm_movehdup_ps(pairs)));
}

float horizontal_sum(__m256 v)
{
    return horizontal_sum(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}

double horizontal_sum(__m256d v)
{
    __m128d const pair = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

} // namespace

//! [scalar_inserts]
void scalar_inserts(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        __m128 sums = _mm_setzero_ps();
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            __m128 const values = _mm_loadu_ps(&a.values[p]);
            __m128 const xs = _mm_setr_ps(x[col[p]], x[col[p + 1]], x[col[p + 2]], x[col[p + 3]]);
            sums = _mm_fmadd_ps(values, xs, sums);
        }
        float sum = horizontal_sum(sums);
        for (; p < end; ++p) {
            sum += a.values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}

void scalar_inserts(sparse::CsrView<double> const& a, std::span<double const> x,
                    std::span<double> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        __m256d sums = _mm256_setzero_pd();
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            __m256d const values = _mm256_loadu_pd(&a.values[p]);
            __m256d const xs =
                _mm256_setr_pd(x[col[p]], x[col[p + 1]], x[col[p + 2]], x[col[p + 3]]);
            sums = _mm256_fmadd_pd(values, xs, sums);
        }
        double sum = horizontal_sum(sums);
        for (; p < end; ++p) {
            sum += a.values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}
//! [scalar_inserts]

//! [avx2_gather]
void avx2_gather(sparse::CsrView<float> const& a, std::span<float const> x, std::span<float> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        __m256 sums = _mm256_setzero_ps();
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 8; p += 8) {
            __m256 const values = _mm256_loadu_ps(&a.values[p]);
            __m256i const columns = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(col + p));
            __m256 const xs = _mm256_i32gather_ps(x.data(), columns, sizeof(float));
            sums = _mm256_fmadd_ps(values, xs, sums);
        }
        float sum = horizontal_sum(sums);
        for (; p < end; ++p) {
            sum += a.values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}

void avx2_gather(sparse::CsrView<double> const& a, std::span<double const> x, std::span<double> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        __m256d sums = _mm256_setzero_pd();
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            __m256d const values = _mm256_loadu_pd(&a.values[p]);
            __m128i const columns = _mm_loadu_si128(reinterpret_cast<__m128i const*>(col + p));
            __m256d const xs = _mm256_i32gather_pd(x.data(), columns, sizeof(double));
            sums = _mm256_fmadd_pd(values, xs, sums);
        }
        double sum = horizontal_sum(sums);
        for (; p < end; ++p) {
            sum += a.values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}
//! [avx2_gather]

//! [x_loaded]
void avx2_load(sparse::CsrView<double> const& a, std::span<double const> x, std::span<double> y)
{
    std::int32_t const* col = a.col.data();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        __m256d sums = _mm256_setzero_pd();
        std::int32_t p = a.row_ptr[i];
        std::int32_t const end = a.row_ptr[i + 1];
        for (; end - p >= 4; p += 4) {
            __m256d const values = _mm256_loadu_pd(&a.values[p]);
            __m256d const xs = _mm256_loadu_pd(&x[col[p]]);
            sums = _mm256_fmadd_pd(values, xs, sums);
        }
        double sum = horizontal_sum(sums);
        for (; p < end; ++p) {
            sum += a.values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}
//! [x_loaded]

} // namespace spmv
