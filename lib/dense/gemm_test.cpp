#include "dense/gemm.hpp"
#include "dense/gemm_steps.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

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

TEST_CASE("sizes that do not agree are refused with all of them")
{
    std::vector<float> memory(100);
    auto const matrix = [&](std::int64_t rows, std::int64_t columns) {
        return Matrix<float>{memory.data(), rows, columns};
    };
    CHECK_THROWS_WITH_AS(
        dense::gemm(matrix(2, 3), matrix(4, 5), matrix(2, 5)),
        "dense::gemm: found 2 x 3 times 4 x 5 into 2 x 5, expected sizes that agree",
        std::invalid_argument);
    CHECK_THROWS_AS(dense::gemm(matrix(2, 3), matrix(3, 5), matrix(2, 4)), std::invalid_argument);
    CHECK_THROWS_AS(dense::gemm(Matrix<float>{memory.data(), 2, 3, 2}, matrix(3, 5), matrix(2, 5)),
                    std::invalid_argument);
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
