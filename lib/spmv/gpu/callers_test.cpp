#include "spmv/formats/check_format.hpp"
#include "spmv/gpu/plan.hpp"
#include "spmv/steps/test_matrices.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/stream.hpp"
#include "sparse/catalogue/generators.hpp"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

// What callers may do to a plan on a GPU.

namespace spmv::gpu {

namespace {

/// The message of a plan that has to be refused with `std::invalid_argument`.
std::string refusal(CsrView<double> const& a, PlanOptions const& options = {})
{
    ::cuda::Stream const stream;
    try {
        Plan<double> const plan{a, stream.get(), options};
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "";
}

/// `y = A x` by a plan.
template <class T>
std::vector<T> product(Csr<T> const& a, std::vector<T> const& x, PlanOptions const& options)
{
    ::cuda::Stream const stream;
    Plan<T> const plan{a.view(), stream.get(), options};
    ::cuda::Buffer<T> const on_device{std::span<T const>{x}};
    ::cuda::Buffer<T> y(static_cast<std::size_t>(a.rows));
    plan(on_device.data(), y.data(), stream.get());
    ::cuda::check(cudaStreamSynchronize(stream.get()));
    return y.download();
}

/// Rows that are not what they have to be, to the sign of an infinity.
template <class T>
std::size_t wrong_rows(std::vector<T> const& y, Expected const& expected)
{
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        auto const value = static_cast<T>(expected.value[i]);
        bool const is_right = std::isfinite(value) ? std::abs(y[i] - value) <= expected.bound[i]
                              : std::isnan(value)  ? std::isnan(y[i])
                                                   : y[i] == value;
        wrong += is_right ? 0 : 1;
    }
    return wrong;
}

} // namespace

TEST_CASE_TEMPLATE("infinity and NaN reach the rows that name them, in every format on a GPU", T,
                   float, double)
{
    constexpr T special[] = {std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(),
                             std::numeric_limits<T>::quiet_NaN()};
    testing::Generator random{9};
    auto structures = testing::classes();
    structures.emplace_back("few rows with entries", sparse::rmat(11, 900, 1));
    for (auto const& [label, pattern] : structures) {
        std::string const name{label};
        CAPTURE(name);
        auto host = testing::filled<T>(pattern);
        for (T& value : host.values) {
            if (random() % 50 == 0) { // stored zeros, the product of which with infinity is NaN
                value = random() % 2 ? T(0) : T(-0.0);
            } else if (random() % 9000 == 0) {
                value = special[random() % 3];
            }
        }
        auto x = testing::make_vector<T>(host.columns, testing::Values::uniform, random);
        x[0] = special[0];
        for (int k = 0; k < 6; ++k) {
            x[random() % x.size()] = special[random() % 3];
        }
        auto const expected = spmv::expected<T>(host, x);
        Csr<T> const a{host.view()};
        for (auto const& format : plan_formats()) {
            CAPTURE(format.name);
            std::vector<T> y;
            try {
                y = product(a, x, {.format = std::string{format.name}});
            } catch (std::length_error const&) {
                continue; // it does not suit the matrix
            }
            CHECK(wrong_rows(y, expected) == 0);
        }
    }
}

TEST_CASE("what is no matrix on a GPU is refused, whatever plan is asked for")
{
    sparse::Csr<double> const good{3, 4, {0, 2, 2, 4}, {0, 3, 1, 2}, {1, 2, 3, 4}};
    REQUIRE(refusal(Csr<double>{good.view()}.view()) == "");
    auto const after = [&](auto const& change) {
        auto host = good;
        change(host);
        Csr<double> a{3, 4, 4};
        a.row_ptr.upload(std::span<std::int32_t const>{host.row_ptr});
        ::cuda::copy_to_device(a.col.data(), host.col.data(), 16);
        ::cuda::copy_to_device(a.values.data(), host.values.data(), 32);
        auto view = a.view();
        view.columns = host.columns;
        view.rows = host.rows;
        auto const text = refusal(view);
        for (auto const& format : plan_formats()) {
            CHECK(refusal(view, {.format = std::string{format.name}}) == text);
        }
        CHECK(refusal(view, {.multiplies = 1}) == text);
        return text;
    };
    using Host = sparse::Csr<double>;
    CHECK(after([](Host& a) { a.row_ptr[0] = 1; }) ==
          "CSR on a GPU: found row offsets from 1 to 4, expected 0 to 4, the number of nonzeros");
    CHECK(after([](Host& a) { a.row_ptr[3] = 5; }) ==
          "CSR on a GPU: found row offsets from 0 to 5, expected 0 to 4, the number of nonzeros");
    CHECK(after([](Host& a) { a.row_ptr[1] = 3; }) ==
          "CSR on a GPU: found row 1 from entry 3 to 2, expected offsets that never fall");
    CHECK(after([](Host& a) { a.row_ptr[1] = 99; }) ==
          "CSR on a GPU: found row 0 from entry 0 to 99, expected offsets that never fall");
    CHECK(after([](Host& a) { a.col[2] = 4; }) ==
          "CSR on a GPU: found column 4 in entry 2, expected one of the 4 from 0 on");
    CHECK(after([](Host& a) { a.col[3] = -1; }) ==
          "CSR on a GPU: found column -1 in entry 3, expected one of the 4 from 0 on");
    CHECK(after([](Host& a) { a.columns = 3; }) ==
          "CSR on a GPU: found column 3 in entry 1, expected one of the 3 from 0 on");
    CHECK(after([](Host& a) { a.rows = -3; }).starts_with("CSR on a GPU: found -3 rows, "));
    for (auto const& columns : {std::vector{3, 0, 1, 2}, {0, 3, 2, 2}}) { // not in order, or twice
        CHECK(after([&](Host& a) { a.col.assign(columns.begin(), columns.end()); }) ==
              "CSR on a GPU: found rows whose columns do not ascend, 1 times, expected sorted "
              "rows, as a `Csr` of a matrix on the host has them");
    }
    CHECK(refusal({}).starts_with("CSR on a GPU: found a null pointer"));
}

TEST_CASE("a matrix of the host is sorted on its way to a GPU, or refused")
{
    sparse::Csr<double> host{2, 3, {0, 3, 4}, {2, 0, 2, 1}, {1, 2, 3, 4}};
    CHECK(product(Csr<double>{host.view()}, {1, 10, 100}, {}) == std::vector{402.0, 40.0});
    host.col[1] = 3;
    CHECK_THROWS_AS(Csr<double>{host.view()}, std::invalid_argument);
    CHECK_THROWS_AS(Csr<double>{sparse::CsrView<double>{}}, std::invalid_argument);
}

TEST_CASE("options and arguments that make no sense are refused on a GPU")
{
    auto const host = testing::filled<double>(sparse::poisson2d(5));
    Csr<double> const a{host.view()};
    constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();
    CHECK(refusal(a.view(), {.multiplies = -1}) ==
          "GPU plan: found -1 multiplies, expected 0 or more");
    CHECK(refusal(a.view(), {.multiplies = not_a_number}) ==
          "GPU plan: found nan multiplies, expected 0 or more");
    CHECK(refusal(a.view(), {.multiplies = 0}) == "");
    CHECK(refusal(a.view(), {.format = "sell"}).starts_with("GPU plan: found format 'sell', "));
    ::cuda::Stream const stream;
    Plan<double> const plan{a.view(), stream.get()};
    ::cuda::Buffer<double> memory(60);
    double* const from = memory.data();
    ::cuda::check(cudaMemsetAsync(from, 0, 60 * sizeof(double), stream.get()));
    CHECK_THROWS_AS(plan(from, from, stream.get()), std::invalid_argument);
    CHECK_THROWS_AS(plan(from + 24, from, stream.get()), std::invalid_argument);
    CHECK_NOTHROW(plan(from + 25, from, stream.get()));
    ::cuda::check(cudaStreamSynchronize(stream.get()));
}

} // namespace spmv::gpu
