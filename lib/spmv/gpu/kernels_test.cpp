#include "spmv/formats/block_sell/gpu.hpp"
#include "spmv/formats/diagonals/gpu.hpp"
#include "spmv/formats/rows/gpu.hpp"
#include "spmv/formats/sell/gpu.hpp"
#include "spmv/gpu/plan.hpp"
#include "spmv/gpu/steps/dynamic_rows.hpp"
#include "spmv/gpu/steps/lane_tables.hpp"
#include "spmv/gpu/steps/padded.hpp"

#include "cuda/error.hpp"
#include "cuda/stream.hpp"
#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spmv::gpu {

namespace {

using testing::TestProduct;
using testing::Values;

/// A multiply of a matrix on the device.
template <class T>
using DeviceMultiply = std::function<void(T const* x, T* y)>;

/// A matrix on the host and on the device, and where work is put.
template <class T>
struct Operand
{
    sparse::CsrView<T> host;
    CsrView<T> a;
    cudaStream_t stream;
};

/// A kernel or a format with its kernel; `make` throws `std::length_error` if a format cannot hold
/// a matrix.
template <class T>
struct TestedKernel
{
    std::string name;
    std::function<DeviceMultiply<T>(Operand<T> const&)> make;
};

template <class T>
std::vector<TestedKernel<T>> kernels_of_rows()
{
    std::vector<TestedKernel<T>> ways{{"thread_per_row", [](Operand<T> const& on) {
                                           return [on](T const* x, T* y) {
                                               thread_per_row(on.a, x, y, on.stream);
                                           };
                                       }}};
    for (int const lanes : {2, 4, 8, 16, 32}) {
        auto const add = [&](std::string const& stem, auto kernel) {
            ways.push_back({stem + std::to_string(lanes), [lanes, kernel](Operand<T> const& on) {
                                return [on, lanes, kernel](T const* x, T* y) {
                                    kernel(lanes, on.a, x, y, on.stream);
                                };
                            }});
        };
        add("vector_shuffle", vector_shuffle<T>);
        if (lanes == 4 || lanes == 16) {
            continue; // the others run the same code, and a sanitizer has to watch each of them
        }
        add("vector_wide", vector_wide<T>);
        add("vector_shared", vector_shared<T>);
        for (auto const& [stem, fetch] : {std::pair{"dynamic_vector", Fetch::vector},
                                          {"dynamic_warp", Fetch::warp},
                                          {"dynamic_chunked", Fetch::chunked}}) {
            add(stem, [fetch = fetch, rows = std::make_shared<DynamicRows>()](
                          auto const&... operands) { (*rows)(fetch, operands...); });
        }
    }
    return ways;
}

/// A format that is converted from the matrix on the device and multiplies by itself.
template <class T, class Convert>
TestedKernel<T> way(std::string name, Convert convert)
{
    return {std::move(name), [convert](Operand<T> const& on) {
                auto const format = std::make_shared<decltype(convert(on)) const>(convert(on));
                return [format, stream = on.stream](T const* x, T* y) { (*format)(x, y, stream); };
            }};
}

/// Those that a plan knows, and one that it does not.
template <class T>
std::vector<TestedKernel<T>> formats()
{
    std::vector<TestedKernel<T>> ways{way<T>("padded_rows", [](auto const& on) {
        auto const padded = std::make_shared<Csr<T>>(with_padded_rows(on.a, on.stream));
        return [padded](T const* x, T* y, cudaStream_t stream) {
            vector_shuffle(4, padded->view(), x, y, stream);
        };
    })};
    for (auto const& format : plan_formats()) {
        std::string const name{format.name};
        ways.push_back(way<T>(name, [name](auto const& on) {
            return Plan<T>{on.a, on.stream, {.format = name}};
        }));
    }
    return ways;
}

template <class T>
std::vector<TestedKernel<T>> blocks()
{
    std::vector<TestedKernel<T>> ways;
    for (sparse::BlockShape const shape :
         {sparse::BlockShape{2, 2}, {2, 3}, {3, 2}, {3, 3}, {2, 4}, {4, 2}, {4, 4}, {6, 6}}) {
        auto const name =
            "block_sell" + std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
        ways.push_back(way<T>(name, [shape](auto const& on) {
            return BlockSell<T>{on.a, shape, on.stream};
        }));
    }
    return ways;
}

/// Operands of a multiply in device memory, `y` between guards.
template <class T>
class Vectors
{
public:
    Vectors(std::vector<T> const& x, std::size_t rows)
        : poisoned_(rows + 2 * guards_, T(42)), x_{std::span<T const>{x}}, y_(poisoned_.size())
    {
        std::fill_n(poisoned_.begin() + guards_, rows, std::numeric_limits<T>::quiet_NaN());
    }

    /// What a multiply makes of a poisoned `y`. It runs twice, as some keep scratch memory.
    std::vector<T> multiplied(DeviceMultiply<T> const& multiply)
    {
        std::vector<T> after;
        for (int call = 0; call < 2; ++call) {
            y_.upload(poisoned_);
            multiply(x_.data(), y_.data() + guards_);
            ::cuda::check(cudaDeviceSynchronize());
            after = y_.download();
        }
        auto const untouched = [](T guard) { return guard == T(42); };
        CHECK(std::ranges::all_of(std::span{after}.first(guards_), untouched));
        CHECK(std::ranges::all_of(std::span{after}.last(guards_), untouched));
        return {after.begin() + guards_, after.end() - guards_};
    }

private:
    static constexpr std::ptrdiff_t guards_ = 32;
    std::vector<T> poisoned_;
    ::cuda::Buffer<T> x_;
    ::cuda::Buffer<T> y_;
};

/// All kernels and formats.
template <class T>
std::vector<TestedKernel<T>> all_ways()
{
    auto made = kernels_of_rows<T>();
    std::ranges::move(formats<T>(), std::back_inserter(made));
    std::ranges::move(blocks<T>(), std::back_inserter(made));
    return made;
}

/// Checks ways on a matrix; returns how many formats refused it.
template <class T>
int check_case(TestProduct<T> const& test, std::vector<TestedKernel<T>> const& ways)
{
    CAPTURE(test.name);
    ::cuda::Stream const stream;
    Csr<T> const a{test.a.view()};
    Operand<T> const on{test.a.view(), a.view(), stream.get()};
    Vectors<T> vectors{test.x, static_cast<std::size_t>(a.rows)};
    int refused = 0;
    for (auto const& each : ways) {
        CAPTURE(each.name);
        try {
            auto const y = vectors.multiplied(each.make(on));
            CHECK(testing::first_wrong_row<T>(y, test.expected) == -1);
        } catch (std::length_error const&) {
            ++refused;
        }
    }
    return refused;
}

/// Checks ways on the awkward matrices with such values.
template <class T>
void check_awkward(Values kind, std::vector<TestedKernel<T>> const& ways)
{
    for (auto const& test : testing::cases<T>()) {
        if (test.kind == kind) {
            check_case(test, ways);
        }
    }
}

template <class T>
TestProduct<T> made_case(std::string name, sparse::Pattern<> const& structure, Values kind)
{
    testing::Generator random{17};
    auto a = testing::make_matrix<T>(structure, kind, random);
    auto x = testing::make_vector<T>(a.columns, kind, random);
    auto expected = spmv::expected<T>(a, x);
    return {std::move(name), std::move(a), std::move(x), std::move(expected), kind};
}

} // namespace

// In three parts, which a sanitizer can watch at the same time.
TEST_CASE_TEMPLATE("kernels of rows multiply awkward matrices", T, float, double)
{
    check_awkward(Values::integers, kernels_of_rows<T>());
}

TEST_CASE_TEMPLATE("formats hold awkward matrices", T, float, double)
{
    check_awkward(Values::integers, formats<T>());
}

TEST_CASE_TEMPLATE("blocks hold awkward matrices", T, float, double)
{
    check_awkward(Values::integers, blocks<T>());
}

// Apart from those above, as what a sanitizer sees does not depend on values.
TEST_CASE_TEMPLATE("awkward matrices have values of any size" * doctest::test_suite("large"), T,
                   float, double)
{
    for (auto const& [kind, name] : testing::all_values) {
        if (kind != Values::integers) {
            check_awkward(kind, all_ways<T>());
        }
    }
}

TEST_CASE_TEMPLATE("every kernel multiplies runs, blocks and stencils", T, float, double)
{
    int refused = 0;
    for (auto const& test : testing::structured_cases<T>()) {
        refused += check_case(test, all_ways<T>());
    }
    CHECK(refused < 49); // formats that refuse everything would pass otherwise
}

namespace {

/// Skewed matrices, larger with the factor.
template <class T>
void check_skewed(int factor)
{
    auto const ways = all_ways<T>();
    auto hypersparse = sparse::empty(40'000 * factor, 50);
    hypersparse.col = {3, 49, 7};
    std::fill(hypersparse.row_ptr.begin() + 20'001 * factor, hypersparse.row_ptr.end(), 2);
    hypersparse.row_ptr.back() = 3;
    for (auto const& [name, matrix] : std::vector<std::pair<char const*, sparse::Pattern<>>>{
             {"rmat", sparse::rmat(12, 6'000 * factor, 3)},
             {"full rows", sparse::dense_rows(2'000 * factor, 3, 4, 50, 3)},
             {"short rows", sparse::short_rows(7'000 * factor + 1, 500, 3)},
             {"ragged", sparse::ragged(500 * factor + 3, 90'001, 300, 3)},
             {"far apart", sparse::random_rows(99 * factor, 500'000, 7, 3)},
             {"grid", sparse::poisson2d(30 * factor + 1)},
             {"hypersparse", hypersparse}}) {
        check_case(made_case<T>(name, matrix, Values::uniform), ways);
    }
}

} // namespace

TEST_CASE_TEMPLATE("every kernel multiplies skewed matrices", T, float, double)
{
    check_skewed<T>(1);
}

TEST_CASE_TEMPLATE("every kernel multiplies skewed matrices of many tiles" *
                       doctest::test_suite("large"),
                   T, float, double)
{
    check_skewed<T>(10);
}

TEST_CASE_TEMPLATE("diagonals read only elements of x that a row has", T, float, double)
{
    auto test = made_case<T>("grid", sparse::poisson2d(37), Values::integers);
    for (std::size_t j = 5; j < test.x.size(); j += 11) {
        test.x[j] =
            j % 2 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    }
    ::cuda::Stream const stream;
    Csr<T> const a{test.a.view()};
    Diagonals<T> const diagonals{a.view(), stream.get()};
    Vectors<T> vectors{test.x, static_cast<std::size_t>(a.rows)};
    auto const y = vectors.multiplied([&](T const* x, T* y) { diagonals(x, y, stream.get()); });
    for (std::int32_t i = 0; i < a.rows; ++i) {
        bool finite = true;
        for (std::int32_t p = test.a.row_ptr[i]; p < test.a.row_ptr[i + 1]; ++p) {
            finite = finite && std::isfinite(test.x[test.a.col[p]]);
        }
        CHECK(std::isfinite(y[i]) == finite);
    }
}

TEST_CASE("kernels that begin early wait for what was launched before them")
{
    auto const test = made_case<double>("square", sparse::poisson2d(70), Values::integers);
    ::cuda::Stream const stream;
    Csr<double> const a{test.a.view()};
    auto const rows = static_cast<std::size_t>(a.rows);
    // Each multiply reads what the one before wrote, and writes what that one read.
    ::cuda::Buffer<double> even{std::span<double const>{test.x}};
    ::cuda::Buffer<double> odd(rows);
    constexpr int multiplies = 6;
    for (int i = 0; i < multiplies; ++i) {
        vector_early(8, a.view(), (i % 2 ? odd : even).data(), (i % 2 ? even : odd).data(),
                     stream.get());
    }
    ::cuda::check(cudaStreamSynchronize(stream.get()));
    auto x = test.x;
    for (int i = 0; i < multiplies; ++i) {
        x = spmv::expected<double>(test.a, x).value; // whole numbers: exact
    }
    CHECK(even.download() == x);
}

TEST_CASE("narrow columns refuse what does not fit, wide ones take it")
{
    auto const test =
        made_case<float>("far", sparse::random_rows(100, 500'000, 3, 1), Values::integers);
    ::cuda::Stream const stream;
    Csr<float> const a{test.a.view()};
    CHECK_THROWS_AS(Sell<float>(a.view(), true, stream.get()), std::length_error);
    CHECK_NOTHROW(Sell<float>(a.view(), false, stream.get()));
}

TEST_CASE("slices sort rows where that saves bytes")
{
    ::cuda::Stream const stream;
    auto const ragged = made_case<float>("", sparse::ragged(3'000, 3'000, 60, 1), Values::integers);
    auto const even = made_case<float>("", sparse::banded(3'000, 16), Values::integers);
    Csr<float> const a{ragged.a.view()};
    Csr<float> const b{even.a.view()};
    Sell<float> const sorted{a.view(), true, stream.get()};
    Sell<float> const in_order{b.view(), true, stream.get()};
    CHECK(sorted.sorted());
    CHECK_FALSE(in_order.sorted());
    CHECK(sorted.elements() < 1.1 * static_cast<double>(a.nonzeros));
}

TEST_CASE("slices of a grid share the patterns of their diagonals")
{
    ::cuda::Stream const stream;
    auto const grid = made_case<double>("", sparse::poisson2d(256), Values::integers);
    Csr<double> const a{grid.a.view()};
    Diagonals<double> const diagonals{a.view(), stream.get()};
    CHECK(diagonals.patterns() <= 9);
    CHECK(diagonals.bytes() < 10 * static_cast<std::size_t>(a.nonzeros));
}

TEST_CASE("what a plan chooses is right, with a clock and without" * doctest::test_suite("large"))
{
    ::cuda::Stream const stream;
    // The first five of some 100 MB, so that they do not stay in the cache.
    sparse::Pattern<> const structures[] = {
        sparse::poisson2d(2'000),
        sparse::fem3(36),
        sparse::random_rows(1'000'000, 1'000'000, 13, 1),
        sparse::dense_rows(1'000'000, 2, 9, 100, 1),
        sparse::rmat(20, 12'000'000, 1),
        sparse::poisson2d(100),
        sparse::dense_rows(5'000, 2, 9, 100, 1),
    };
    for (auto const& structure : structures) {
        auto const test = made_case<float>("", structure, Values::uniform);
        CAPTURE(structure.rows);
        for (bool const timed : {false, true}) {
            auto a = std::make_unique<Csr<float>>(test.a.view());
            Plan<float> const plan{a->view(), stream.get(), {.timed = timed}};
            CHECK(plan.explain().starts_with(plan.format()));
            if (!plan.borrows()) {
                a.reset(); // the caller may free it
            }
            Vectors<float> vectors{test.x, static_cast<std::size_t>(test.a.rows)};
            auto const y =
                vectors.multiplied([&](float const* x, float* y) { plan(x, y, stream.get()); });
            CHECK(testing::first_wrong_row<float>(y, test.expected) == -1);
        }
    }
}

TEST_CASE("a plan for one row, none, and rows that are all empty")
{
    ::cuda::Stream const stream;
    sparse::Csr<float> const matrices[] = {{1, 4, {0, 3}, {0, 2, 3}, {1, 2, 3}},
                                           {0, 4, {0}, {}, {}},
                                           {5, 4, {0, 0, 0, 0, 0, 0}, {}, {}}};
    for (auto const& host : matrices) {
        CAPTURE(host.rows);
        Csr<float> const a{host.view()};
        Plan<float> const plan{a.view(), stream.get()};
        std::vector<float> const x(4, 0.5f);
        Vectors<float> vectors{x, static_cast<std::size_t>(host.rows)};
        auto const y =
            vectors.multiplied([&](float const* x, float* y) { plan(x, y, stream.get()); });
        CHECK(testing::first_wrong_row<float>(y, spmv::expected<float>(host, x)) == -1);
    }
}

TEST_CASE("a plan takes what can hold the matrix where slices cannot" *
          doctest::test_suite("large"))
{
    // In each window of rows that are sorted by length, one of 40 among rows without nonzeros and a
    // few of one: slices would store some twenty elements for each nonzero.
    constexpr int windows = 11'000;
    auto structure = sparse::empty(windows * sort_window, 64);
    for (std::int32_t row = 0; row < structure.rows; ++row) {
        int const place = row % sort_window;
        for (int k = 0; k < (place == 0 ? 40 : place <= 31 ? 1 : 0); ++k) {
            structure.col.push_back(k);
        }
        structure.row_ptr[row + 1] = static_cast<std::int32_t>(structure.col.size());
    }
    auto const test = made_case<float>("hypersparse", structure, Values::integers);
    ::cuda::Stream const stream;
    Csr<float> const a{test.a.view()};
    CHECK_THROWS_AS(Sell<float>(a.view(), false, stream.get()), std::length_error);
    Plan<float> const plan{a.view(), stream.get()};
    Vectors<float> vectors{test.x, static_cast<std::size_t>(a.rows)};
    auto const y = vectors.multiplied([&](float const* x, float* y) { plan(x, y, stream.get()); });
    CHECK(testing::first_wrong_row<float>(y, test.expected) == -1);
}

TEST_CASE("a plan converts only if the multiplies can pay for it" * doctest::test_suite("large"))
{
    ::cuda::Stream const stream;
    auto const test = made_case<float>("", sparse::poisson2d(2'000), Values::integers);
    Csr<float> const a{test.a.view()};
    CHECK(Plan<float>(a.view(), stream.get(), {.multiplies = 3}).format() == "row_tiles");
    CHECK(Plan<float>(a.view(), stream.get(), {.timed = false}).format() == "diagonals");
    CHECK_THROWS_AS(Plan<float>(a.view(), stream.get(), {.format = "coo"}), std::invalid_argument);
}

TEST_CASE("the tables of the articles")
{
    for (auto const& [mean, lanes] : {std::pair{0.0, 2},
                                      {2.0, 2},
                                      {2.1, 4},
                                      {4.0, 4},
                                      {4.2, 8},
                                      {64.0, 8},
                                      {64.5, 32},
                                      {1e6, 32}}) {
        CHECK(light_lanes(mean) == lanes);
    }
    for (auto const& [mean, lanes] : {std::pair{8.0, 1},
                                      {8.5, 2},
                                      {16.5, 4},
                                      {32.5, 8},
                                      {64.5, 16},
                                      {128.0, 16},
                                      {129.0, 32}}) {
        CHECK(mixed_lanes(mean) == lanes);
    }
    for (auto const& [mean, lanes] :
         {std::pair{0.0, 2}, {1.0, 2}, {4.2, 4}, {7.0, 8}, {23.0, 32}, {1e6, 32}}) {
        CHECK(nearest_lanes(mean) == lanes);
    }
}

TEST_CASE("a number of lanes that no kernel has is an error")
{
    ::cuda::Stream const stream;
    CHECK_THROWS_AS(vector_shuffle<float>(3, CsrView<float>{}, nullptr, nullptr, stream.get()),
                    std::invalid_argument);
    float* const none = nullptr;
    DynamicRows const rows;
    CHECK_THROWS_AS(rows(Fetch::warp, 64, CsrView<float>{}, none, none, stream.get()),
                    std::invalid_argument);
}

} // namespace spmv::gpu
