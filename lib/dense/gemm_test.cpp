#include "dense/gemm.hpp"
#include "dense/gemm_steps.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Which allocation fails, of those aligned to cache lines: the one behind `after` others; none if
/// negative.
struct ShortMemory
{
    std::atomic<int> after = -1;
    std::atomic<int> count = 0;
};
ShortMemory short_memory;

} // namespace

void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    bool const fails = short_memory.after >= 0 && short_memory.count++ == short_memory.after;
    auto const size = static_cast<std::size_t>(alignment);
    void* const memory =
        fails ? nullptr : std::aligned_alloc(size, (bytes + size - 1) / size * size);
    return memory != nullptr ? memory : throw std::bad_alloc{};
}

void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}

namespace {

using dense::Matrix;

/// A matrix that owns its elements, with a gap behind each row.
template <class T>
struct Owned
{
    Owned(std::int64_t rows, std::int64_t columns, std::int64_t gap)
        : elements(static_cast<std::size_t>(rows * (columns + gap) + 1),
                   std::numeric_limits<T>::quiet_NaN()),
          view{elements.data(), rows, columns, columns + gap}
    {
    }

    template <class Draw>
    void fill(Draw draw)
    {
        for (std::int64_t i = 0; i < view.rows; ++i) {
            for (std::int64_t j = 0; j < view.columns; ++j) {
                view(i, j) = static_cast<T>(draw());
            }
        }
    }

    std::vector<T> elements;
    Matrix<T> view;
};

/// Every element lies within the bound of a sum of products in `T`, and gaps are untouched.
template <class T>
void check_product(Matrix<T const> a, Matrix<T const> b, Owned<T> const& c)
{
    double const unit = std::numeric_limits<T>::epsilon();
    for (std::int64_t i = 0; i < c.view.rows; ++i) {
        for (std::int64_t j = 0; j < c.view.columns; ++j) {
            double sum = 0;
            double magnitude = 0;
            for (std::int64_t k = 0; k < a.columns; ++k) {
                double const product = static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
                sum += product;
                magnitude += std::abs(product);
            }
            double const bound = unit * static_cast<double>(a.columns + 2) * magnitude;
            CAPTURE(i);
            CAPTURE(j);
            REQUIRE(std::abs(static_cast<double>(c.view(i, j)) - sum) <= bound);
        }
        for (std::int64_t j = c.view.columns; j < c.view.stride; ++j) {
            REQUIRE(std::isnan(c.view.data[i * c.view.stride + j]));
        }
    }
}

template <class T>
struct Operands
{
    template <class Random>
    Operands(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t gap, Random& random)
        : a{m, k, gap}, b{k, n, gap}, c{m, n, gap}
    {
        std::uniform_real_distribution<double> uniform{-1, 1};
        a.fill([&] { return uniform(random); });
        b.fill([&] { return uniform(random); });
    }

    Owned<T> a, b, c;
};

} // namespace

TEST_CASE_TEMPLATE("products of every shape, with every kernel", T, float, double)
{
    std::mt19937 random{5};
    std::uniform_int_distribution<std::int64_t> size{1, 70};
    std::vector<std::array<std::int64_t, 3>> shapes{
        {1, 1, 1}, {12, 32, 8}, {13, 33, 7}, {1, 65, 300}, {200, 1, 5}, {150, 70, 1}, {7, 7, 800}};
    for (int i = 0; i < 12; ++i) {
        shapes.push_back({size(random), size(random), size(random)});
    }
    for (auto const& shape : shapes) {
        std::int64_t const m = shape[0];
        std::int64_t const n = shape[1];
        std::int64_t const k = shape[2];
        for (auto const& kernel : dense::micro_kernels<T>()) {
            for (int const threads : {1, 3}) {
                for (std::int64_t const gap : {0, 3}) {
                    CAPTURE(m);
                    CAPTURE(n);
                    CAPTURE(k);
                    CAPTURE(std::string{kernel.name});
                    Operands<T> p{m, n, k, gap, random};
                    dense::packed_gemm<T>(p.a.view, p.b.view, p.c.view, kernel, threads);
                    check_product<T>(p.a.view, p.b.view, p.c);
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("several blocks in every direction", T, float, double)
{
    std::mt19937 random{6};
    Operands<T> p{310, 4200, 10, 1, random};
    dense::gemm(p.a.view, p.b.view, p.c.view, 2);
    check_product<T>(p.a.view, p.b.view, p.c);
    Operands<T> deep{30, 40, 1000, 1, random};
    dense::gemm(deep.a.view, deep.b.view, deep.c.view, 2);
    check_product<T>(deep.a.view, deep.b.view, deep.c);
}

TEST_CASE_TEMPLATE("the steps before", T, float, double)
{
    std::mt19937 random{7};
    for (auto const step : {dense::triple_loop<T>, dense::loop_order<T>, dense::tiles<T>}) {
        for (auto const& [m, n, k] :
             std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {5, 600, 70}, {33, 17, 129}}) {
            Operands<T> p{m, n, k, 2, random};
            step(p.a.view, p.b.view, p.c.view);
            check_product<T>(p.a.view, p.b.view, p.c);
        }
    }
}

TEST_CASE("nothing to add up makes zeros, nothing to write is left alone")
{
    Owned<float> c{3, 4, 1};
    dense::gemm<float>(Matrix<float const>{nullptr, 3, 0}, Matrix<float const>{nullptr, 0, 4},
                       c.view);
    CHECK(c.view(2, 3) == 0);
    CHECK(std::isnan(c.view.data[4]));
    dense::gemm<float>(Matrix<float const>{nullptr, 0, 7}, Matrix<float const>{c.view.data, 7, 1},
                       Matrix<float>{nullptr, 0, 1});
}

// What may be written can be read, whether the type is told or found out.
TEST_CASE("operands of any constness")
{
    std::vector<double> a{1, 2, 3, 4, 5, 6};
    std::vector<double> b{1, 0, 0, 1, 1, 1};
    std::vector<double> const read_a = a;
    std::vector<double> const read_b = b;
    std::vector<double> c(4);
    std::int64_t const m = 2;
    int const k = 3;
    auto const check = [&] {
        CHECK(c == std::vector<double>{4, 5, 10, 11});
        c.assign(4, -1);
    };
    dense::gemm<double>({a.data(), m, k}, {b.data(), k, m}, {c.data(), m, m});
    check();
    dense::gemm<double>({read_a.data(), m, k}, {read_b.data(), k, m}, {c.data(), m, m}, 2);
    check();
    dense::gemm<double>({a.data(), m, k}, {read_b.data(), k, m}, {c.data(), m, m});
    check();
    dense::gemm<double>({&a[0], 2, 3, 3}, {std::span{b}.data(), 3, 2}, {&c[0], 2, 2});
    check();
    Matrix const to{c.data(), m, m};
    dense::gemm(Matrix{a.data(), m, k}, Matrix{b.data(), k, m}, to);
    check();
    dense::gemm(Matrix{read_a.data(), m, k}, Matrix{b.data(), k, m}, to);
    check();
    dense::gemm({a.data(), m, k}, {std::span{read_b}.data(), k, m}, to);
    check();
    auto const kernel = dense::micro_kernels<double>().back();
    dense::packed_gemm({a.data(), m, k}, {read_b.data(), k, m}, to, kernel, 1);
    check();
    dense::packed_gemm<double>(Matrix{a.data(), m, k}, {b.data(), k, m}, to, kernel, 1);
    check();
}

namespace {

/// What `gemm` says to these matrices; empty if it multiplies them.
template <class T>
std::string refusal(Matrix<T> a, Matrix<T> b, Matrix<T> c, int threads = 1)
{
    try {
        dense::gemm<T>(a, b, c, threads);
    } catch (std::invalid_argument const& error) {
        CHECK(std::string{error.what()}.find('\n') == std::string::npos);
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("sizes that do not agree are refused with all of them")
{
    std::vector<float> memory(100);
    auto const matrix = [&](std::int64_t rows, std::int64_t columns, std::size_t first) {
        return Matrix<float>{memory.data() + first, rows, columns};
    };
    auto const expected =
        "dense::gemm: found 2 x 3 times 4 x 5 into 2 x 5, expected sizes that agree";
    CHECK(refusal(matrix(2, 3, 0), matrix(4, 5, 20), matrix(2, 5, 50)) == expected);
    CHECK(refusal(matrix(2, 3, 0), matrix(3, 5, 20), matrix(2, 4, 50)) != "");
    CHECK(refusal(matrix(2, 3, 0), matrix(3, 5, 20), matrix(3, 5, 50)) != "");
    CHECK(refusal(matrix(2, 3, 0), matrix(3, 5, 20), matrix(2, 5, 50), -2) ==
          "dense::gemm: found -2 threads, expected 1 or more, or 0 for all");
    CHECK(refusal(matrix(2, 3, 0), matrix(3, 5, 20), matrix(2, 5, 50), 1'000'000'000) == "");
}

TEST_CASE("matrices that no memory can have are refused, wherever they stand")
{
    std::vector<float> memory(100);
    float* const at = memory.data();
    auto const* const byte = reinterpret_cast<char const*>(at) + 1;
    float* between = nullptr;
    std::memcpy(&between, &byte, sizeof between);
    constexpr std::int64_t wide = std::int64_t{1} << 32;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (auto const& wrong : std::vector<Matrix<float>>{
             {at, wide, wide},      // the product is 0 in 64 bits
             {nullptr, wide, wide}, // so that none seem to need memory
             {at, wide / 2, wide},  // the product is negative
             {at, 3, wide, most},   // the last row begins beyond 64 bits
             {at, 1, most},         // the bytes are beyond 64 bits
             {at, most, 1},         //
             {at, most / 4, 1, 2},  //
             {at, 2, 3, 2},         // rows that overlap
             {at, 2, 3, -3},        //
             {at, -1, 3},           //
             {at, 3, -1},           //
             {at, -wide, -wide},    //
             {nullptr, 1, 1},       //
             {between, 1, 1},       // between two elements
         }) {
        CAPTURE(wrong.rows);
        CAPTURE(wrong.columns);
        CAPTURE(wrong.stride);
        Matrix<float> const none{nullptr, 0, 0};
        auto const fits_left = Matrix<float>{nullptr, 0, wrong.rows};
        auto const fits_right = Matrix<float>{nullptr, wrong.columns, 0};
        CHECK(refusal(wrong, fits_right, {nullptr, wrong.rows, 0}) != "");
        CHECK(refusal(fits_left, wrong, {nullptr, 0, wrong.columns}) != "");
        CHECK(refusal({nullptr, wrong.rows, 0}, {nullptr, 0, wrong.columns}, wrong) != "");
    }
    CHECK(refusal<float>({at, 2, 3, 2}, {at, 3, 1}, {at + 50, 2, 1}) ==
          "dense::gemm: found a matrix of 2 x 3 with 2 from row to row, expected no fewer than "
          "columns");
    CHECK(refusal<float>({nullptr, most, 0}, {nullptr, 0, 3}, {nullptr, most, 3}) != "");
    CHECK(refusal<float>({nullptr, most, 0}, {nullptr, 0, 0}, {nullptr, most, 0}) == "");
}

TEST_CASE("a result in memory of an operand is refused, and one in its gaps is not")
{
    constexpr std::int64_t stride = 20;
    std::vector<double> memory(400, 1.0);
    auto const part = [&](std::int64_t i, std::int64_t j) { // of a matrix of 20 x 20
        return Matrix<double>{memory.data() + i * stride + j, 5, 5, stride};
    };
    std::vector<double> others(25, 1.0);
    Matrix<double> const other{others.data(), 5, 5};
    auto const is_refused = [&](Matrix<double> const& a, Matrix<double> const& c) {
        auto const left = refusal(a, other, c);
        CHECK(left == refusal(other, a, c));
        CHECK((left == "" || left == "dense::gemm: found 5 x 5 times 5 x 5 into 5 x 5 in memory of "
                                     "an operand, expected a result in memory of its own"));
        return left != "";
    };
    for (std::int64_t i = 0; i <= 12; ++i) {
        for (std::int64_t j = 0; j <= 15; ++j) {
            CAPTURE(i);
            CAPTURE(j);
            CHECK(is_refused(part(6, 7), part(i, j)) == (i > 1 && i < 11 && j > 2 && j < 12));
        }
    }
    CHECK(is_refused(part(6, 7), {memory.data() + 6 * stride + 11, 5, 5}));      // its last element
    CHECK(is_refused({memory.data(), 5, 5, 17}, {memory.data() + 60, 5, 5, 7})); // rows 3 and 1
    CHECK(!is_refused({memory.data(), 5, 5, 20}, {memory.data() + 5, 5, 5, 10}));
    CHECK(!is_refused(part(0, 0), {memory.data() + 4 * stride + 5, 5, 5})); // right behind
    CHECK(!is_refused({memory.data() + 25, 5, 5}, {memory.data(), 5, 5}));  // right before
    CHECK(refusal(part(6, 7), part(6, 7), other) == "");                    // the operands alike
    CHECK(refusal(part(6, 7), part(8, 8), other) == "");
    auto const row = [&](std::int64_t j) { return Matrix<double>{memory.data() + j, 1, 1}; };
    CHECK(refusal(row(0), row(0), row(1)) == "");
    CHECK(refusal(row(0), row(1), row(1)) != "");
}

// Short memory must reach the caller: before the threads begin, as nothing may be thrown out of a
// parallel region.
TEST_CASE("short memory is an exception, and leaves the result alone")
{
    std::vector<double> const ones(std::size_t{200} * 200, 1.0);
    std::vector<double> c(std::size_t{200} * 200, -1.0);
    Matrix<double const> const a{ones.data(), 200, 200};
    auto const fails = [&] {
        try {
            dense::gemm<double>(a, a, {c.data(), 200, 200}, 3);
            return false;
        } catch (std::bad_alloc const&) {
            return true;
        }
    };
    std::thread fresh{[&] { // one that has kept no memory yet
        short_memory.count = 0;
        short_memory.after = 0;
        bool const failed = fails();
        short_memory.after = -1;
        CHECK(failed);
        CHECK(c == std::vector<double>(c.size(), -1.0));
        CHECK(!fails());
        CHECK(c == std::vector<double>(c.size(), 200.0));
        short_memory.count = 0;
        short_memory.after = 0;
        bool const again = fails();
        short_memory.after = -1;
        CHECK(!again); // it has what it needs
    }};
    fresh.join();
}

TEST_CASE("NaN in an operand stays NaN")
{
    std::mt19937 random{8};
    Operands<float> p{20, 20, 20, 0, random};
    p.a.view(3, 4) = std::numeric_limits<float>::quiet_NaN();
    dense::gemm(p.a.view, p.b.view, p.c.view);
    for (std::int64_t j = 0; j < 20; ++j) {
        CHECK(std::isnan(p.c.view(3, j)));
    }
    CHECK(!std::isnan(p.c.view(4, 0)));
}
