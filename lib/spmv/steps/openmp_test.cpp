#include "spmv/steps/openmp.hpp"
#include "spmv/steps/test_matrices.hpp"

#include <doctest/doctest.h>

#include <vector>

using spmv::testing::check_on_awkward_matrices;
using spmv::testing::Multiply;

namespace {

/// Checks `multiply(a, x, y, threads)` on the awkward matrices with 1 to 8 threads.
template <class T, class Threaded>
void check_threaded(Threaded const& multiply)
{
    for (int threads = 1; threads <= 8; ++threads) {
        CAPTURE(threads);
        check_on_awkward_matrices<T>([&](sparse::CsrView<T> const& a) -> Multiply<T> {
            return [=](std::span<T const> x, std::span<T> y) { multiply(a, x, y, threads); };
        });
    }
}

/// As above for a multiply that takes the length of a chunk too.
template <class T, class Chunked>
void check_chunked(Chunked const& multiply)
{
    for (int const chunk : {1, 16, 256, 4096}) {
        CAPTURE(chunk);
        check_threaded<T>(
            [&](auto const& a, auto x, auto y, int threads) { multiply(a, x, y, threads, chunk); });
    }
}

} // namespace

TEST_CASE_TEMPLATE("rows dealt out by OpenMP multiply right", T, float, double)
{
    check_threaded<T>(spmv::static_rows<T>);
    check_threaded<T>(spmv::dynamic_rows<T>);
    check_threaded<T>(spmv::guided_rows<T>);
}

TEST_CASE_TEMPLATE("chunks of rows multiply right", T, float, double)
{
    check_chunked<T>(spmv::static_chunks<T>);
    check_chunked<T>(spmv::dynamic_chunks<T>);
    check_chunked<T>(spmv::guided_chunks<T>);
}

TEST_CASE_TEMPLATE("shares of nonzeros multiply right", T, float, double)
{
    check_threaded<T>(spmv::nnz_balanced<T>);
    check_threaded<T>(spmv::nnz_stealing<T>);
    check_threaded<T>(spmv::merge_path<T>);
}

TEST_CASE_TEMPLATE("sums in memory are right, side by side and apart", T, float, double)
{
    for (std::size_t const stride : {std::size_t{1}, spmv::apart<T>}) {
        CAPTURE(stride);
        check_threaded<T>([&](auto const& a, auto x, auto y, int threads) {
            std::vector<T> sums(stride * y.size());
            spmv::sums_in_memory<T>(a, x, y, threads, sums, stride);
        });
    }
}

TEST_CASE_TEMPLATE("totals are the sum of all products", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        auto const nonzeros = static_cast<std::int32_t>(test.a.nonzeros());
        sparse::Csr<T> const row{1, test.a.columns, {0, nonzeros}, test.a.col, test.a.values};
        auto const expected = spmv::expected<T>(row, test.x);
        for (auto const total :
             {spmv::asked_total<T>, spmv::fixed_total<T>, spmv::share_total<T>}) {
            std::vector<T> const found{total(test.a, test.x, 3)};
            CHECK(spmv::testing::first_wrong_row<T>(found, expected) == -1);
        }
    }
}

TEST_CASE_TEMPLATE("products in one region and in many are the same", T, float, double)
{
    for (auto const multiply : {spmv::region_each<T>, spmv::region_once<T>, spmv::no_barriers<T>}) {
        check_threaded<T>(
            [&](auto const& a, auto x, auto y, int threads) { multiply(a, x, y, threads, 3); });
    }
}

TEST_CASE_TEMPLATE("a result depends on nothing but the number of threads", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        std::vector<T> first(test.expected.value.size());
        std::vector<T> again(first.size());
        for (auto const multiply : {spmv::dynamic_rows<T>, spmv::nnz_balanced<T>, //
                                    spmv::nnz_stealing<T>, spmv::merge_path<T>}) {
            multiply(test.a, test.x, first, 5);
            multiply(test.a, test.x, again, 5);
            CHECK(first == again);
        }
    }
}

TEST_CASE_TEMPLATE("a copy that its threads touched first is the same matrix", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        auto const copy = spmv::first_touched<T>(test.a, 3);
        CHECK(copy.rows == test.a.rows);
        CHECK(copy.columns == test.a.columns);
        CHECK(copy.row_ptr == test.a.row_ptr);
        CHECK(copy.col == test.a.col);
        CHECK(copy.values == test.a.values);
    }
}
