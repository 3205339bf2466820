#include "spmv/formats/check_format.hpp"
#include "spmv/gpu/plan.hpp"
#include "spmv/gpu/wide_plan.hpp"
#include "spmv/steps/test_matrices.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/stream.hpp"
#include "sparse/catalogue/generators.hpp"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
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

namespace {

/// A matrix of some length of rows on the host, its copy on the device, and a vector for it.
template <class T>
struct Operands
{
    explicit Operands(sparse::Pattern<> const& pattern, std::uint64_t seed = 3) : random{seed}
    {
        host = testing::filled<T>(pattern);
        set_values();
        x = testing::make_vector<T>(host.columns, testing::Values::uniform, random);
        zeros.resize(static_cast<std::size_t>(host.rows));
    }

    void set_values()
    {
        std::ranges::copy(testing::make_vector<T>(static_cast<std::int32_t>(host.values.size()),
                                                  testing::Values::uniform, random),
                          host.values.begin());
    }

    testing::Generator random;
    sparse::Csr<T> host;
    std::vector<T> x;
    std::vector<T> zeros; ///< as many as rows
};

/// `y = alpha A x + beta y` by a plan of any kind.
template <class T, class Plan>
std::vector<T> added(Plan const& plan, T alpha, std::vector<T> const& x, T beta,
                     std::vector<T> const& before)
{
    ::cuda::Stream const stream;
    ::cuda::Buffer<T> const on_device{x};
    ::cuda::Buffer<T> y{before};
    plan(alpha, on_device.data(), beta, y.data(), stream.get());
    stream.synchronize();
    return y.download();
}

/// Rows that are not `alpha A x + beta y` but for rounding.
template <class T>
std::size_t wrong_sums(std::vector<T> const& y, T alpha, Expected const& product, T beta,
                       std::vector<T> const& before)
{
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        double const kept = beta == T{0} ? 0 : 1.0 * beta * before[i];
        double const made = alpha == T{0} ? 0 : alpha * product.value[i];
        double const bound =
            (alpha == T{0} ? 0 : std::abs(alpha) * product.bound[i]) +
            4 * std::numeric_limits<T>::epsilon() * (std::abs(kept) + std::abs(made));
        wrong += std::abs(y[i] - (made + kept)) <= bound ? 0 : 1; // NaN is wrong
    }
    return wrong;
}

sparse::Pattern<> some_rows()
{
    return sparse::ragged(3'000, 2'500, 40, 7);
}

} // namespace

TEST_CASE_TEMPLATE("y = alpha A x + beta y, whatever the two are", T, float, double)
{
    Operands<T> const operands{some_rows()};
    Csr<T> const a{operands.host.view()};
    auto const expected = spmv::expected<T>(operands.host, operands.x);
    testing::Generator random{5};
    auto const before = testing::make_vector<T>(a.rows, testing::Values::uniform, random);
    std::vector<T> const unset(a.rows, std::numeric_limits<T>::quiet_NaN());
    ::cuda::Stream const stream;
    for (auto const& format : plan_formats()) {
        CAPTURE(format.name);
        std::unique_ptr<Plan<T>> plan;
        try {
            plan = std::make_unique<Plan<T>>(a.view(), stream.get(),
                                             PlanOptions{.format = std::string{format.name}});
        } catch (std::length_error const&) {
            continue; // it does not suit the matrix
        }
        for (T const alpha : {T(1), T(-2.5), T(0)}) {
            for (T const beta : {T(0), T(1), T(0.75)}) {
                CAPTURE(alpha);
                CAPTURE(beta);
                auto const& y = beta == T{0} ? unset : before;
                auto const& x =
                    alpha == T{0} ? std::vector<T>(operands.x.size(), unset[0]) : operands.x;
                CHECK(wrong_sums(added<T>(*plan, alpha, x, beta, y), alpha, expected, beta, y) ==
                      0);
            }
        }
    }
}

TEST_CASE("a product that is added can be captured, after a first one")
{
    Operands<double> const operands{some_rows()};
    Csr<double> const a{operands.host.view()};
    auto const expected = spmv::expected<double>(operands.host, operands.x);
    ::cuda::Stream const stream;
    Plan<double> const plan{a.view(), stream.get(), {.timed = false}};
    ::cuda::Buffer<double> const x{operands.x};
    std::vector<double> const zeros(static_cast<std::size_t>(a.rows));
    ::cuda::Buffer<double> y{zeros};
    plan(1, x.data(), 1, y.data(), stream.get());
    ::cuda::Graph const twice{stream, [&] { plan(1, x.data(), 1, y.data(), stream.get()); }, 2};
    twice.replay(stream);
    stream.synchronize();
    CHECK(wrong_sums<double>(y.download(), 3, expected, 0, zeros) == 0);
}

TEST_CASE_TEMPLATE("a plan takes new values, also where it borrows them", T, float, double)
{
    Operands<T> operands{some_rows()};
    ::cuda::Stream const stream;
    for (auto const& format : plan_formats()) {
        CAPTURE(format.name);
        auto before = std::make_unique<Csr<T>>(operands.host.view());
        std::unique_ptr<Plan<T>> plan;
        try {
            plan = std::make_unique<Plan<T>>(before->view(), stream.get(),
                                             PlanOptions{.format = std::string{format.name}});
        } catch (std::length_error const&) {
            continue; // it does not suit the matrix
        }
        operands.set_values();
        Csr<T> const a{operands.host.view()};
        plan->update(a.view(), stream.get());
        before.reset(); // nothing reads it any more
        CHECK(plan->format() == format.name);
        CHECK(wrong_sums<T>(added<T>(*plan, 1, operands.x, 0, operands.zeros), 1,
                            spmv::expected<T>(operands.host, operands.x), 0, operands.zeros) == 0);
    }
}

TEST_CASE("values of another matrix are refused, and the plan stands as it was")
{
    Operands<double> const operands{some_rows()};
    Operands<double> const other{sparse::ragged(3'000, 2'500, 30, 7)};
    Csr<double> const a{operands.host.view()};
    Csr<double> const b{other.host.view()};
    ::cuda::Stream const stream;
    Plan<double> plan{a.view(), stream.get(), {.timed = false}};
    CHECK_THROWS_AS(plan.update(b.view(), stream.get()), std::invalid_argument);
    CHECK(wrong_sums<double>(added<double>(plan, 1, operands.x, 0, operands.zeros), 1,
                             spmv::expected<double>(operands.host, operands.x), 0,
                             operands.zeros) == 0);
}

TEST_CASE("values that fit a format no more are multiplied as CSR")
{
    Operands<double> const band{sparse::banded(4'000, 9)};
    auto scattered = band;
    std::int64_t const count = band.host.nonzeros();
    for (std::int32_t row = 0; row < band.host.rows; ++row) { // as many, anywhere in the row
        auto const begin = band.host.row_ptr[row];
        auto const end = band.host.row_ptr[row + 1];
        for (auto i = begin; i < end; ++i) {
            auto const room = band.host.columns / (end - begin);
            scattered.host.col[i] = (i - begin) * room + row * 7919 % room;
        }
    }
    Csr<double> const a{band.host.view()};
    Csr<double> const b{scattered.host.view()};
    ::cuda::Stream const stream;
    Plan<double> plan{a.view(), stream.get(), {.format = "diagonals"}};
    plan.update(b.view(), stream.get());
    CHECK(plan.format() != "diagonals");
    CHECK(b.nonzeros == count);
    CHECK(wrong_sums<double>(added<double>(plan, 1, band.x, 0, band.zeros), 1,
                             spmv::expected<double>(scattered.host, band.x), 0, band.zeros) == 0);
}

TEST_CASE_TEMPLATE("results repeat bit for bit where a plan says so", T, float, double)
{
    Operands<T> const operands{sparse::rmat(13, 200'000, 5)};
    Csr<T> const a{operands.host.view()};
    ::cuda::Stream const stream;
    for (auto const& format : plan_formats()) {
        CAPTURE(format.name);
        try {
            Plan<T> const plan{a.view(), stream.get(), {.format = std::string{format.name}}};
            std::string const said = plan.repeats() ? "results repeat bit for bit" : "differ";
            CHECK(plan.explain().find(said) != std::string::npos);
            auto const first = added<T>(plan, 1, operands.x, 0, operands.zeros);
            for (int again = 0; again < 20 && plan.repeats(); ++again) {
                auto const y = added<T>(plan, 1, operands.x, 0, operands.zeros);
                CHECK(std::memcmp(y.data(), first.data(), y.size() * sizeof(T)) == 0);
            }
        } catch (std::length_error const&) { // it does not suit the matrix
        }
    }
}

TEST_CASE("the transpose is refused with what to do instead")
{
    sparse::Csr<double> const host{3, 4, {0, 2, 2, 4}, {0, 3, 1, 2}, {1, 2, 3, 4}};
    Csr<double> const a{host.view()};
    CHECK(refusal(a.view(), {.transposed = true}) ==
          "GPU plan: found products with the transpose, expected a plan of the transpose itself, "
          "for instance of what cusparseCsr2cscEx2 makes");
}

namespace {

/// The arrays of a matrix with offsets of 64 bits, one element behind a boundary, in the device's
/// memory.
template <class T>
struct Wide
{
    explicit Wide(sparse::Csr<T> const& host)
        : rows{host.rows}, columns{host.columns}, row_ptr{std::vector<std::int64_t>(
                                                      host.row_ptr.begin(), host.row_ptr.end())},
          col{behind_one(host.col)}, values{behind_one(host.values)}
    {
    }

    WideCsrView<T> view() const
    {
        return {rows,           columns,        static_cast<std::int64_t>(col.size()) - 1,
                row_ptr.data(), col.data() + 1, values.data() + 1};
    }

    template <class Elements>
    static auto behind_one(Elements const& elements)
    {
        std::vector<typename Elements::value_type> longer(elements.begin(), elements.end());
        longer.insert(longer.begin(), typename Elements::value_type{});
        return longer;
    }

    std::int32_t rows;
    std::int32_t columns;
    ::cuda::Buffer<std::int64_t> row_ptr;
    ::cuda::Buffer<std::int32_t> col;
    ::cuda::Buffer<T> values;
};

} // namespace

TEST_CASE_TEMPLATE("a matrix with offsets of 64 bits, in parts of any size", T, float, double)
{
    Operands<T> const operands{sparse::ragged(300, 250, 40, 7)}; // each part is a plan
    auto const expected = spmv::expected<T>(operands.host, operands.x);
    testing::Generator random{5};
    auto const before =
        testing::make_vector<T>(operands.host.rows, testing::Values::uniform, random);
    ::cuda::Stream const stream;
    for (std::int64_t const part : {40, 41, 999, 5'000, 1'000'000}) {
        CAPTURE(part);
        auto a = std::make_unique<Wide<T>>(operands.host);
        WidePlan<T> const plan{a->view(), stream.get(), {.timed = false}, part};
        a.reset(); // it has copies
        CHECK(plan.bytes() > 0);
        auto const lines = plan.explain();
        bool const is_cut = part < std::ssize(operands.host.col);
        CHECK(is_cut == (std::ranges::count(lines, '\n') > 0));
        CHECK(wrong_sums<T>(added<T>(plan, T(2), operands.x, T(0.5), before), T(2), expected,
                            T(0.5), before) == 0);
    }
}

TEST_CASE("what is no matrix with offsets of 64 bits is refused")
{
    Operands<double> const operands{some_rows()};
    ::cuda::Stream const stream;
    auto const refused = [&](auto const& change, std::int64_t part) {
        Wide<double> a{operands.host};
        auto view = a.view();
        auto offsets = a.row_ptr.download();
        change(view, offsets);
        a.row_ptr.upload(std::span<std::int64_t const>{offsets});
        try {
            WidePlan<double> const plan{view, stream.get(), {.timed = false}, part};
        } catch (std::invalid_argument const&) {
            return true;
        } catch (std::length_error const&) {
            return true;
        }
        return false;
    };
    using View = WideCsrView<double>;
    using Offsets = std::vector<std::int64_t>;
    std::int64_t const whole = most_nonzeros;
    CHECK_FALSE(refused([](View&, Offsets&) {}, whole));
    CHECK(refused([](View&, Offsets&) {}, 39)); // the longest row has 40
    CHECK(refused([](View&, Offsets&) {}, 0));
    CHECK(refused([](View&, Offsets&) {}, whole + 1));
    CHECK(refused([](View& a, Offsets&) { ++a.nonzeros; }, whole));
    CHECK(refused([](View& a, Offsets&) { a.row_ptr = nullptr; }, whole));
    CHECK(refused([](View& a, Offsets&) { a.col = nullptr; }, whole));
    CHECK(refused([](View& a, Offsets&) { a.rows = -1; }, whole));
    CHECK(refused([](View&, Offsets& o) { o[0] = 1; }, whole));
    CHECK(refused([](View&, Offsets& o) { o[9] += std::int64_t{1} << 32; }, whole));
    CHECK(refused([](View&, Offsets& o) { o[9] -= std::int64_t{1} << 32; }, 999));
    CHECK(refused([](View& a, Offsets&) { a.columns = 9; }, whole));
}

namespace {

/// Copies of the first `filled` elements of a buffer, one behind the other up to its end.
template <class T>
void repeat(::cuda::Buffer<T>& buffer, std::size_t filled)
{
    while (filled < buffer.size()) {
        auto const count = std::min(filled, buffer.size() - filled);
        ::cuda::check(cudaMemcpy(buffer.data() + filled, buffer.data(), count * sizeof(T),
                                 cudaMemcpyDeviceToDevice));
        filled += count;
    }
}

} // namespace

TEST_CASE("more nonzeros than 32 bits can count" * doctest::test_suite("large"))
{
    std::size_t free = 0;
    std::size_t total = 0;
    ::cuda::check(cudaMemGetInfo(&free, &total));
    if (free < std::size_t{60} << 30) {
        MESSAGE("left out: it takes 60 GiB of the device's memory");
        return;
    }
    constexpr std::int32_t rows = 70'000;
    constexpr std::int32_t columns = 32'768;
    constexpr std::int64_t nonzeros = std::int64_t{rows} * columns; // 2.3 thousand million
    std::vector<std::int64_t> offsets;
    for (std::int64_t row = 0; row <= rows; ++row) {
        offsets.push_back(row * columns);
    }
    std::vector<std::int32_t> every_column(columns);
    std::iota(every_column.begin(), every_column.end(), 0);
    std::vector<float> const ones(columns, 1.0F);
    ::cuda::Buffer<std::int64_t> const row_ptr{offsets};
    ::cuda::Buffer<std::int32_t> col(static_cast<std::size_t>(nonzeros));
    ::cuda::Buffer<float> values(static_cast<std::size_t>(nonzeros));
    ::cuda::copy_to_device(col.data(), every_column.data(), columns * sizeof(std::int32_t));
    ::cuda::copy_to_device(values.data(), ones.data(), columns * sizeof(float));
    repeat(col, columns);
    repeat(values, columns);
    std::vector<float> expected(rows, columns);
    // The rows about the end of the first part, and the last one, are unlike all others.
    for (std::int32_t const row : {65'532, 65'533, 65'534, 65'535, rows - 1}) {
        std::vector<float> const other(columns, static_cast<float>(row % 7 + 2));
        ::cuda::copy_to_device(values.data() + offsets[row], other.data(), columns * sizeof(float));
        expected[row] = columns * other[0];
    }
    ::cuda::Stream const stream;
    WidePlan<float> const plan{{rows, columns, nonzeros, row_ptr.data(), col.data(), values.data()},
                               stream.get(),
                               {.timed = false}};
    CHECK(std::ranges::count(plan.explain(), '\n') == 1); // two parts
    CHECK(added<float>(plan, 1, ones, 0, expected) == expected);
}

} // namespace spmv::gpu
