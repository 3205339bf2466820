#include "kit/problem_spmv.hpp"

#include "kit/json.hpp"
#include "kit/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace {

/// An input of the sparse problem, of which everything may be looked at.
std::unique_ptr<kit::SparseProduct> made(std::string const& line, std::uint64_t seed, int vectors)
{
    auto const problem = kit::problem("spmv vectors=" + std::to_string(vectors));
    auto instance = kit::Family{problem, line}.make(seed);
    auto* const product = dynamic_cast<kit::SparseProduct*>(instance.release());
    REQUIRE(product != nullptr);
    product->expect(true);
    return std::unique_ptr<kit::SparseProduct>{product};
}

/// The product as a student would write it first.
std::vector<double> product(kit::SparseProduct const& instance)
{
    auto const& a = instance.a;
    std::vector<double> y(static_cast<std::size_t>(a.rows) * instance.vectors);
    for (std::size_t i = 0; i < y.size(); ++i) {
        auto const row = i / instance.vectors;
        for (auto p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
            auto const at = static_cast<std::size_t>(a.col[p]) * instance.vectors;
            y[i] += a.values[p] * instance.x[at + i % instance.vectors];
        }
    }
    return y;
}

kit::Result part(std::vector<double> const& y, std::size_t first = 0, std::size_t count = 2)
{
    return {first, kit::bytes_of(std::span{y}.subspan(first, count))};
}

std::string complaint(kit::SparseProduct& instance, std::vector<double> const& y)
{
    return instance.complaint(part(y, 0, y.size()));
}

} // namespace

TEST_CASE("a seed gives an instance, another seed another one")
{
    std::string const line = "many ragged rows=90..100 columns=80..90 longest=20";
    CHECK(kit::Family{kit::problem("spmv vectors=3"), line}.name() == "many");
    auto const one = made(line, 1, 3);
    auto const again = made(line, 1, 3);
    CHECK(one->a.row_ptr == again->a.row_ptr);
    CHECK(one->a.col == again->a.col);
    CHECK(one->a.values == again->a.values);
    CHECK(one->x == again->x);
    CHECK(made(line, 2, 3)->x != one->x);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        auto const instance = made(line, seed, 2);
        auto const& some = *instance;
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
    auto const instance = made("full dense rows=100 columns=100", 1, 1);
    CHECK(instance->a.nonzeros() < 10'000);
    CHECK(instance->a.nonzeros() > 9'800); // one in 256
    CHECK(instance->a.row_ptr.back() == instance->a.nonzeros());
}

namespace {

/// SplitMix64, forwards and backwards.
constexpr std::uint64_t step_of_state = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::uint64_t state_of(std::uint64_t z)
{
    z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3;
    z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089;
    return z ^ (z >> 30) ^ (z >> 60);
}

/// How many states of SplitMix64 give the first of these values and then the next two.
int states_behind(std::span<double const> values)
{
    auto const shown = static_cast<std::int64_t>((std::abs(values[0]) - 0.0625) / 0.9375 * 0x1p52);
    int found = 0;
    for (std::int64_t off = -2; off <= 2; ++off) {
        for (std::uint64_t low = 0; low < 2048; ++low) {
            auto const bits = static_cast<std::uint64_t>(shown + off) << 12 | low << 1 |
                              (values[0] > 0 ? 1U : 0U);
            auto const state = state_of(bits);
            found += kit::real(bits) == values[0] &&
                     kit::real(mixed(state + step_of_state)) == values[1] &&
                     kit::real(mixed(state + 2 * step_of_state)) == values[2];
        }
    }
    return found;
}

} // namespace

TEST_CASE("values do not tell those that follow them")
{
    base::Random known{11};
    std::vector<double> values(3);
    std::ranges::generate(values, [&] { return kit::real(known.next()); });
    CHECK(states_behind(values) == 1);
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        auto const instance = made("ragged ragged rows=40 columns=50 longest=9", seed, 1);
        CHECK(states_behind(instance->a.values) == 0);
        CHECK(states_behind(instance->x) == 0);
    }
}

TEST_CASE("the length of a row does not tell its columns")
{
    constexpr int side = 24;
    auto const a = made("stencil stencil27 n=24", 3, 1)->a;
    int whole = 0;
    int moved = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        auto const begin = a.row_ptr[static_cast<std::size_t>(i)];
        if (a.row_ptr[static_cast<std::size_t>(i) + 1] - begin == 27) {
            ++whole;
            for (int k = 0; k < 27; ++k) {
                auto const usual =
                    i + k % 3 - 1 + side * (k / 3 % 3 - 1) + side * side * (k / 9 - 1);
                if (a.col[static_cast<std::size_t>(begin + k)] != usual) {
                    ++moved;
                    break;
                }
            }
        }
    }
    CHECK(whole > 0);
    CHECK(moved > whole / 100);
}

TEST_CASE("bytes are those of the matrix, of x and of y, once")
{
    auto const instance = made("one dense rows=3 columns=2", 5, 4);
    auto const vectors = (3 + 2) * 4 * sizeof(double);
    CHECK(instance->work() == static_cast<double>(instance->a.bytes() + vectors));
}

TEST_CASE("a line that is no family, or no problem, is named")
{
    auto const said = [](std::string const& line, std::string const& problem = "spmv vectors=1") {
        try {
            kit::Family{kit::problem(problem), line}.make(1);
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
    std::string const fine = "fine product m=1 n=1 k=1";
    CHECK(said(fine, "dense bits=64") == "nothing");
    CHECK(said("odd product m=1 n=1", "dense bits=64") == "case odd: product needs k");
    CHECK(said("odd product m=1 n=0 k=1", "dense bits=64").find("found n=0") != std::string::npos);
    CHECK(said(fine, "dense bits=16") == "problem dense: found bits=16, expected 64 or 32");
    CHECK(said(fine, "dense") == "problem dense needs bits");
    CHECK(said(fine, "dense bits=few").find("found 'bits=few'") != std::string::npos);
    CHECK(said(fine, "fft") == "problem 'fft': expected dense, softmax, spmv and its settings");
    CHECK(said("odd softmax rows=0 columns=1 offset=0", "softmax").find("found rows=0") !=
          std::string::npos);
}

TEST_CASE("a right product is accepted, a wrong one is not")
{
    auto const instance = made("wide dense rows=20 columns=300", 7, 2);
    auto y = product(*instance);
    REQUIRE(instance->value.size() == y.size());
    CHECK(complaint(*instance, y).empty());
    y[5] += 2 * instance->bound[5];
    CHECK(complaint(*instance, y).starts_with("y[5] is "));
    y[5] = std::numeric_limits<double>::quiet_NaN();
    CHECK(complaint(*instance, y).find("was this element written?") != std::string::npos);
    y[5] = std::numeric_limits<double>::infinity();
    CHECK_FALSE(complaint(*instance, y).empty());
}

TEST_CASE("one product that is left out is no rounding")
{
    auto const instance = made("wide dense rows=1 columns=2000", 7, 1);
    double magnitude = 0;
    for (std::size_t p = 0; p < instance->a.values.size(); ++p) {
        magnitude += std::fabs(instance->a.values[p] *
                               instance->x[static_cast<std::size_t>(instance->a.col[p])]);
    }
    auto const terms = static_cast<double>(instance->a.nonzeros()) + 1;
    CHECK(instance->bound[0] == doctest::Approx(2 * terms * 0x1p-53 * magnitude));
    auto y = product(*instance);
    y[0] -= instance->a.values[0] * instance->x[static_cast<std::size_t>(instance->a.col[0])];
    CHECK_FALSE(complaint(*instance, y).empty());
}

TEST_CASE("elements of one rank are compared with its part of the result")
{
    auto const instance = made("wide dense rows=4 columns=4", 7, 1);
    auto const y = product(*instance);
    CHECK(instance->complaint(part(y, 2)).empty());
    CHECK(instance->complaint({2, part(y).bytes}).starts_with("y[2] is "));
    auto const picture = instance->shown({2, kit::bytes_of(std::vector<double>{y[2], 5})});
    CHECK(picture.find("y[2] =") != std::string::npos);
    CHECK(picture.find("yours: 5") != std::string::npos);
}

TEST_CASE("a picture names the elements of x that belong to an element of y")
{
    auto const instance = made("small dense rows=1 columns=2", 7, 2);
    REQUIRE(instance->a.nonzeros() == 2);
    auto const picture = instance->shown({1, kit::bytes_of(std::vector<double>{0})});
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
