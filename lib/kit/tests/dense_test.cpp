#include "kit/problem_dense.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace {

template <class T>
struct Fixture
{
    kit::Random random{5};
    kit::DenseProduct<T> product;
    std::vector<T> c;

    /// A product of sums in order, as a student would write it first.
    Fixture(int m, int n, int k) : Fixture{m, n, k, [](T value) { return value; }} {}

    /// As above, with what `rounded` makes of each value.
    template <class Rounded>
    Fixture(int m, int n, int k, Rounded const& rounded)
        : product{m, n, k, random}, c(static_cast<std::size_t>(m) * static_cast<std::size_t>(n))
    {
        auto a = product.a();
        auto b = product.b();
        std::ranges::transform(a, a.begin(), rounded);
        std::ranges::transform(b, b.begin(), rounded);
        auto const columns = static_cast<std::size_t>(n);
        for (std::size_t i = 0; i < c.size(); ++i) {
            T const* const row = &a[i / columns * static_cast<std::size_t>(k)];
            T const* const column = &b[i % columns];
            for (int p = 0; p < k; ++p) {
                c[i] += row[p] * column[p * n];
            }
        }
    }

    std::string complaint(bool whole)
    {
        product.expect(whole);
        return product.complaint({0, kit::bytes_of(c)});
    }
};

/// A number with eleven bits, as tensor cores take it (TF32).
float eleven_bits(float value)
{
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000) & ~0x1fffU);
}

} // namespace

TEST_CASE_TEMPLATE("a right product passes, looked at whole and through random vectors", T, double,
                   float)
{
    for (auto const& [m, n, k] : {std::array{1, 1, 1}, {3, 700, 1}, {90, 7, 300}, {65, 64, 63}}) {
        Fixture<T> right{m, n, k};
        CHECK(right.complaint(true) == "");
        for (int again = 0; again < 20; ++again) {
            CHECK(right.complaint(false) == "");
        }
    }
}

TEST_CASE_TEMPLATE("one wrong element is found and named, whole or not", T, double, float)
{
    for (bool const whole : {true, false}) {
        Fixture<T> wrong{30, 40, 50};
        wrong.c[7 * 40 + 39] += static_cast<T>(1) / 256; // of a product of two numbers at least
        CHECK(wrong.complaint(whole).starts_with("C[7][39] is "));
        wrong.c[0] = std::numeric_limits<T>::quiet_NaN();
        CHECK(wrong.complaint(whole).find("C holds NaN before the call") != std::string::npos);
        wrong.c[0] = std::numeric_limits<T>::infinity();
        CHECK(wrong.complaint(whole).starts_with("C[0][0] is inf"));
    }
}

TEST_CASE("errors that cancel in sums of a row or of a column are found")
{
    for (int again = 0; again < 50; ++again) {
        Fixture<double> wrong{20, 20, 20};
        for (auto const& [i, sign] : {std::pair{0, 1}, {5, -1}, {60, -1}, {65, 1}}) {
            wrong.c[static_cast<std::size_t>(i)] += sign * 0.01;
        }
        CHECK(wrong.complaint(false).starts_with("C[0][0] is "));
    }
}

TEST_CASE("a double product of floats, and a float product of eleven bits, are not exact enough")
{
    auto const to_float = [](double value) {
        return static_cast<double>(static_cast<float>(value));
    };
    Fixture<double> single{100, 100, 100, to_float};
    Fixture<float> tensor{200, 200, 1000, eleven_bits};
    for (bool const whole : {true, false}) {
        CHECK_FALSE(single.complaint(whole).empty());
        CHECK_FALSE(tensor.complaint(whole).empty());
    }
}

TEST_CASE("Strassen's product of doubles is exact enough")
{
    // One level on 2 x 2 blocks of 1 element: seven products in place of eight, as differences.
    Fixture<double> one{2, 2, 2};
    auto const& a = one.product.a();
    auto const& b = one.product.b();
    double const m1 = (a[0] + a[3]) * (b[0] + b[3]);
    double const m2 = (a[2] + a[3]) * b[0];
    double const m3 = a[0] * (b[1] - b[3]);
    double const m4 = a[3] * (b[2] - b[0]);
    double const m5 = (a[0] + a[1]) * b[3];
    double const m6 = (a[2] - a[0]) * (b[0] + b[1]);
    double const m7 = (a[1] - a[3]) * (b[2] + b[3]);
    one.c = {m1 + m4 - m5 + m7, m3 + m5, m2 + m4, m1 - m2 + m3 + m6};
    CHECK(one.complaint(true) == "");
    CHECK(one.complaint(false) == "");
}

TEST_CASE("a product of several ranks is refused, and a small one is shown")
{
    Fixture<double> small{1, 1, 2};
    CHECK_THROWS_WITH(small.product.images(2, 1), "a dense product is of one rank, found 2");
    CHECK(small.product.is_small());
    CHECK(small.product.work() == 4);
    auto const picture = small.product.shown({0, kit::bytes_of(small.c)});
    CHECK(picture.starts_with("    C[0][0] = + "));
    CHECK(picture.find("yours: ") != std::string::npos);
    CHECK_FALSE(Fixture<double>(5, 5, 5).product.is_small());
}

TEST_CASE("the image holds both factors, and no number in C")
{
    Fixture<float> one{2, 3, 4};
    auto const image = one.product.images(1, 9)[0];
    CHECK(image.output_bytes == 6 * sizeof(float));
    for (std::size_t i = 0; i < 6; ++i) {
        float element = 0;
        std::memcpy(&element, image.bytes.data() + image.output + i * sizeof element,
                    sizeof element);
        CHECK(std::isnan(element));
    }
}
