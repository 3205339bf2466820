#include "kit/problem.hpp"

#include "kit/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace {

/// The product as a student would write it first.
std::vector<double> product(kit::Instance const& instance)
{
    auto const& a = instance.a;
    auto const vectors = static_cast<std::size_t>(instance.vectors);
    std::vector<double> y(static_cast<std::size_t>(a.rows) * vectors);
    for (std::size_t i = 0; i < y.size(); ++i) {
        for (auto p = a.row_ptr[i / vectors]; p < a.row_ptr[i / vectors + 1]; ++p) {
            y[i] += a.values[p] *
                    instance.x[static_cast<std::size_t>(a.col[p]) * vectors + i % vectors];
        }
    }
    return y;
}

std::string complaint(kit::Expected const& expected, std::vector<double> const& y)
{
    return kit::complaint(expected, 0, y.size(), y.data());
}

} // namespace

TEST_CASE("a seed gives an instance, another seed another one")
{
    kit::Family const family{"many ragged rows=90..100 columns=80..90 longest=20"};
    CHECK(family.name() == "many");
    auto const one = family.make(1, 3);
    auto const again = family.make(1, 3);
    CHECK(one.a.row_ptr == again.a.row_ptr);
    CHECK(one.a.col == again.a.col);
    CHECK(one.a.values == again.a.values);
    CHECK(one.x == again.x);
    CHECK(family.make(2, 3).x != one.x);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        auto const some = family.make(seed, 2);
        CHECK(some.a.rows >= 90);
        CHECK(some.a.rows <= 100);
        CHECK(some.a.columns >= 80);
        CHECK(some.a.columns <= 90);
        CHECK(some.x.size() == 2 * static_cast<std::size_t>(some.a.columns));
        auto const sized = [](double value) {
            return std::fabs(value) >= 1.0 / 16 && std::fabs(value) <= 1;
        };
        CHECK(std::ranges::all_of(some.a.values, sized));
        CHECK(std::ranges::all_of(some.x, sized));
        auto const is_negative = [](double value) { return value < 0; };
        CHECK(std::ranges::any_of(some.x, is_negative));
        CHECK_FALSE(std::ranges::all_of(some.x, is_negative));
    }
}

TEST_CASE("a few nonzeros are left out, so that no structure is known exactly")
{
    auto const instance = kit::Family{"full dense rows=100 columns=100"}.make(1, 1);
    CHECK(instance.a.nonzeros() < 10'000);
    CHECK(instance.a.nonzeros() > 9'800); // one in 256
    CHECK(instance.a.row_ptr.back() == instance.a.nonzeros());
}

TEST_CASE("bytes are those of the matrix, of x and of y, once")
{
    auto const instance = kit::Family{"one dense rows=3 columns=2"}.make(5, 4);
    auto const vectors = (3 + 2) * 4 * sizeof(double);
    CHECK(instance.bytes() == static_cast<double>(instance.a.bytes() + vectors));
}

TEST_CASE("a line that is no family is named")
{
    auto const said = [](std::string const& line) {
        try {
            kit::Family{line}.make(1, 1);
        } catch (std::invalid_argument const& error) {
            return std::string{error.what()};
        }
        return std::string{"nothing"};
    };
    CHECK(said("odd nonsense rows=1").find("'odd nonsense rows=1'") != std::string::npos);
    CHECK(said("odd dense rows=many").find("found 'rows=many'") != std::string::npos);
    CHECK(said("odd dense rows=1..x").find("found 'rows=1..x'") != std::string::npos);
    CHECK(said("odd dense rows=1") == "case odd: dense needs columns");
    CHECK(said("fine dense rows=1 columns=1") == "nothing");
}

TEST_CASE("a right product is accepted, a wrong one is not")
{
    auto const instance = kit::Family{"wide dense rows=20 columns=300"}.make(7, 2);
    auto const expected = kit::expected(instance);
    auto y = product(instance);
    REQUIRE(expected.value.size() == y.size());
    CHECK(complaint(expected, y).empty());
    y[5] += 2 * expected.bound[5];
    CHECK(complaint(expected, y).starts_with("y[5] is "));
    y[5] = std::numeric_limits<double>::quiet_NaN();
    CHECK(complaint(expected, y).find("was this element written?") != std::string::npos);
    y[5] = std::numeric_limits<double>::infinity();
    CHECK_FALSE(complaint(expected, y).empty());
}

TEST_CASE("one product that is left out is no rounding")
{
    auto const instance = kit::Family{"wide dense rows=1 columns=2000"}.make(7, 1);
    auto const expected = kit::expected(instance);
    double magnitude = 0;
    for (std::size_t p = 0; p < instance.a.values.size(); ++p) {
        magnitude += std::fabs(instance.a.values[p] *
                               instance.x[static_cast<std::size_t>(instance.a.col[p])]);
    }
    auto const terms = static_cast<double>(instance.a.nonzeros()) + 1;
    CHECK(expected.bound[0] == doctest::Approx(2 * terms * 0x1p-53 * magnitude));
    auto y = product(instance);
    y[0] -= instance.a.values[0] * instance.x[static_cast<std::size_t>(instance.a.col[0])];
    CHECK_FALSE(complaint(expected, y).empty());
}

TEST_CASE("elements of one rank are compared with its part of the result")
{
    auto const instance = kit::Family{"wide dense rows=4 columns=4"}.make(7, 1);
    auto const expected = kit::expected(instance);
    auto const y = product(instance);
    CHECK(kit::complaint(expected, 2, 2, y.data() + 2).empty());
    CHECK(kit::complaint(expected, 2, 2, y.data()).starts_with("y[2] is "));
    auto const picture = kit::shown(instance, expected, 2, {y[2], 5});
    CHECK(picture.find("y[2] =") != std::string::npos);
    CHECK(picture.find("yours: 5") != std::string::npos);
}

TEST_CASE("a picture names the elements of x that belong to an element of y")
{
    auto const instance = kit::Family{"small dense rows=1 columns=2"}.make(7, 2);
    REQUIRE(instance.a.nonzeros() == 2);
    auto const picture = kit::shown(instance, kit::expected(instance), 1, {0});
    CHECK(picture.find("y[1] =") != std::string::npos);
    CHECK(picture.find("x[1]=") < picture.find("x[3]="));
    CHECK(picture.find("x[3]=") != std::string::npos);
    CHECK(picture.find("x[0]=") == std::string::npos);
}

TEST_CASE("a text in JSON holds no quotation mark, backslash or control as it is")
{
    CHECK(kit::quoted("") == "\"\"");
    CHECK(kit::quoted("plain, ümlaut") == "\"plain, ümlaut\"");
    CHECK(kit::quoted("a\"b\\c") == R"("a\"b\\c")");
    CHECK(kit::quoted("two\nlines\tand\x1b[31m\x7f") ==
          R"("two\u000alines\u0009and\u001b[31m\u007f")");
}
