#include "spmv/steps/openmp.hpp"

#include "spmv/formats/parts.hpp"
#include "spmv/plan/shared_work.hpp"

#include <algorithm>
#include <vector>

namespace spmv {

namespace {

/// The products of entries `p` to `end`, added up in four sums as in the serial `unroll4`.
//! [unrolled_sum]
template <class T>
T unrolled_sum(sparse::CsrView<T> const& a, std::span<T const> x, std::int32_t p, std::int32_t end)
{
    T sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (; end - p >= 4; p += 4) {
        sum0 += a.values[p] * x[a.col[p]];
        sum1 += a.values[p + 1] * x[a.col[p + 1]];
        sum2 += a.values[p + 2] * x[a.col[p + 2]];
        sum3 += a.values[p + 3] * x[a.col[p + 3]];
    }
    for (; p < end; ++p) {
        sum0 += a.values[p] * x[a.col[p]];
    }
    return (sum0 + sum1) + (sum2 + sum3);
}
//! [unrolled_sum]

/// A place on the merge path: `row` ends and `nonzero` entries lie behind it.
struct Place
{
    std::int32_t row;
    std::int32_t nonzero;
};

//! [place_on_path]
template <class T>
Place place_on_path(sparse::CsrView<T> const& a, std::int64_t steps)
{
    auto const nonzeros = static_cast<std::int64_t>(a.nonzeros());
    std::int64_t low = std::max<std::int64_t>(steps - nonzeros, 0);
    std::int64_t high = std::min<std::int64_t>(steps, a.rows);
    while (low < high) { // how many rows end within the first `steps` steps
        std::int64_t const row = (low + high) / 2;
        if (a.row_ptr[row + 1] <= steps - row - 1) {
            low = row + 1;
        } else {
            high = row;
        }
    }
    return {static_cast<std::int32_t>(low), static_cast<std::int32_t>(steps - low)};
}
//! [place_on_path]

/// The part of a row that a thread began and another one ends.
template <class T>
struct Carry
{
    std::int32_t row;
    T sum;
};

} // namespace

//! [static_rows]
template <class T>
void static_rows(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
}
//! [static_rows]

//! [static_chunks]
template <class T>
void static_chunks(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                   int chunk)
{
#pragma omp parallel for num_threads(threads) schedule(static, chunk)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
}
//! [static_chunks]

//! [dynamic_rows]
template <class T>
void dynamic_rows(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
}
//! [dynamic_rows]

//! [dynamic_chunks]
template <class T>
void dynamic_chunks(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                    int chunk)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
}
//! [dynamic_chunks]

//! [guided_rows]
template <class T>
void guided_rows(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(guided)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
}
//! [guided_rows]

//! [guided_chunks]
template <class T>
void guided_chunks(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                   int chunk)
{
#pragma omp parallel for num_threads(threads) schedule(guided, chunk)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
}
//! [guided_chunks]

//! [nnz_balanced]
template <class T>
void nnz_balanced(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads)
{
    auto const nonzeros_before = [&](std::int32_t row) { return a.row_ptr[row]; };
    auto const parts = balanced_parts(a.rows, threads, nonzeros_before);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int part = 0; part < threads; ++part) {
        for (std::int32_t i = parts[part].begin; i < parts[part].end; ++i) {
            y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
        }
    }
}
//! [nnz_balanced]

//! [nnz_stealing]
template <class T>
void nnz_stealing(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads)
{
    constexpr int shares = 16; // that each thread begins with
    int const parts = threads * shares;
    auto const first_row = [&](int part) { // of a part
        auto const before = static_cast<std::int64_t>(a.nonzeros()) * part / parts;
        auto const row = std::ranges::lower_bound(a.row_ptr, before) - a.row_ptr.begin();
        return part == parts ? a.rows : static_cast<std::int32_t>(row);
    };
    for_each_part(threads, shares, [&](int part) { // its own ones first, then those of others
        std::int32_t const end = first_row(part + 1);
        for (std::int32_t i = first_row(part); i < end; ++i) {
            y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
        }
    });
}
//! [nnz_stealing]

//! [merge_path]
template <class T>
void merge_path(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads)
{
    auto const steps = static_cast<std::int64_t>(a.nonzeros()) + a.rows;
    std::vector<Carry<T>> carries(static_cast<std::size_t>(threads));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int part = 0; part < threads; ++part) {
        auto [i, p] = place_on_path(a, steps * part / threads);
        auto const end = place_on_path(a, steps * (part + 1) / threads);
        for (; i < end.row; ++i) {
            y[i] = unrolled_sum(a, x, p, a.row_ptr[i + 1]);
            p = a.row_ptr[i + 1];
        }
        carries[part] = {i, unrolled_sum(a, x, p, end.nonzero)};
    }
    for (auto const& [row, sum] : carries) {
        if (row < a.rows) {
            y[row] += sum;
        }
    }
}
//! [merge_path]

//! [sums_in_memory]
template <class T>
void sums_in_memory(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                    std::span<T> sums, std::size_t stride)
{
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        T volatile& sum = sums[i * stride]; // volatile: the compiler keeps it in no register
        sum = 0;
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            sum = sum + a.values[p] * x[a.col[p]];
        }
        y[i] = sum;
    }
}
//! [sums_in_memory]

//! [asked_total]
template <class T>
T asked_total(sparse::CsrView<T> const& a, std::span<T const> x, int threads)
{
    T total = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : total)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        total += unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
    return total;
}
//! [asked_total]

//! [fixed_total]
template <class T>
T fixed_total(sparse::CsrView<T> const& a, std::span<T const> x, int threads)
{
    T total = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : total)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        total += unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
    return total;
}
//! [fixed_total]

//! [share_total]
template <class T>
T share_total(sparse::CsrView<T> const& a, std::span<T const> x, int threads)
{
    T total = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : total)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        total += unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
    }
    return total;
}
//! [share_total]

//! [region_each]
template <class T>
void region_each(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                 int times)
{
    for (int time = 0; time < times; ++time) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (std::int32_t i = 0; i < a.rows; ++i) {
            y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
        }
    }
}
//! [region_each]

//! [region_once]
template <class T>
void region_once(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                 int times)
{
#pragma omp parallel num_threads(threads)
    for (int time = 0; time < times; ++time) {
#pragma omp for schedule(static)
        for (std::int32_t i = 0; i < a.rows; ++i) {
            y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
        }
    }
}
//! [region_once]

//! [no_barriers]
template <class T>
void no_barriers(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                 int times)
{
#pragma omp parallel num_threads(threads)
    for (int time = 0; time < times; ++time) {
#pragma omp for schedule(static) nowait
        for (std::int32_t i = 0; i < a.rows; ++i) {
            y[i] = unrolled_sum(a, x, a.row_ptr[i], a.row_ptr[i + 1]);
        }
    }
}
//! [no_barriers]

//! [first_touch]
template <class T>
sparse::Csr<T> first_touched(sparse::CsrView<T> const& a, int threads)
{
    sparse::Csr<T> copy{a.rows, a.columns, sparse::Array<std::int32_t>(a.row_ptr.size()),
                        sparse::Array<std::int32_t>(a.nonzeros()), sparse::Array<T>(a.nonzeros())};
    copy.row_ptr[0] = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int32_t i = 0; i < a.rows; ++i) {
        copy.row_ptr[i + 1] = a.row_ptr[i + 1];
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            copy.col[p] = a.col[p];
            copy.values[p] = a.values[p];
        }
    }
    return copy;
}
//! [first_touch]

template void static_rows(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                          int);
template void dynamic_rows(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                           int);
template void guided_rows(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                          int);
template void nnz_stealing(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                           int);
template void nnz_balanced(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                           int);
template void merge_path(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                         int);
template void static_chunks(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                            int, int);
template void dynamic_chunks(sparse::CsrView<float> const&, std::span<float const>,
                             std::span<float>, int, int);
template void guided_chunks(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                            int, int);
template void sums_in_memory(sparse::CsrView<float> const&, std::span<float const>,
                             std::span<float>, int, std::span<float>, std::size_t);
template float asked_total(sparse::CsrView<float> const&, std::span<float const>, int);
template float fixed_total(sparse::CsrView<float> const&, std::span<float const>, int);
template float share_total(sparse::CsrView<float> const&, std::span<float const>, int);
template void region_each(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                          int, int);
template void region_once(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                          int, int);
template void no_barriers(sparse::CsrView<float> const&, std::span<float const>, std::span<float>,
                          int, int);
template sparse::Csr<float> first_touched(sparse::CsrView<float> const&, int);

template void static_rows(sparse::CsrView<double> const&, std::span<double const>,
                          std::span<double>, int);
template void dynamic_rows(sparse::CsrView<double> const&, std::span<double const>,
                           std::span<double>, int);
template void guided_rows(sparse::CsrView<double> const&, std::span<double const>,
                          std::span<double>, int);
template void nnz_stealing(sparse::CsrView<double> const&, std::span<double const>,
                           std::span<double>, int);
template void nnz_balanced(sparse::CsrView<double> const&, std::span<double const>,
                           std::span<double>, int);
template void merge_path(sparse::CsrView<double> const&, std::span<double const>, std::span<double>,
                         int);
template void static_chunks(sparse::CsrView<double> const&, std::span<double const>,
                            std::span<double>, int, int);
template void dynamic_chunks(sparse::CsrView<double> const&, std::span<double const>,
                             std::span<double>, int, int);
template void guided_chunks(sparse::CsrView<double> const&, std::span<double const>,
                            std::span<double>, int, int);
template void sums_in_memory(sparse::CsrView<double> const&, std::span<double const>,
                             std::span<double>, int, std::span<double>, std::size_t);
template double asked_total(sparse::CsrView<double> const&, std::span<double const>, int);
template double fixed_total(sparse::CsrView<double> const&, std::span<double const>, int);
template double share_total(sparse::CsrView<double> const&, std::span<double const>, int);
template void region_each(sparse::CsrView<double> const&, std::span<double const>,
                          std::span<double>, int, int);
template void region_once(sparse::CsrView<double> const&, std::span<double const>,
                          std::span<double>, int, int);
template void no_barriers(sparse::CsrView<double> const&, std::span<double const>,
                          std::span<double>, int, int);
template sparse::Csr<double> first_touched(sparse::CsrView<double> const&, int);

} // namespace spmv
