#include "gemm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

// The options are the program's one state; each test leaves them as they were.

TEST_CASE("a shape is three sizes")
{
    auto const shape = gemm::parse_shape("256x1024x128");
    CHECK(shape.m == 256);
    CHECK(shape.k == 1024);
    CHECK(shape.n == 128);
    for (std::string const wrong : {"", "256", "256x1024", "256x1024x128x2", "0x1x1", "1x-1x1",
                                    "1xax1", "1x1x1 ", "1x1x99999999999999999999"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH_AS(gemm::parse_shape(wrong), doctest::Contains(wrong.c_str()),
                             std::invalid_argument);
    }
}

TEST_CASE("a product beyond memory is refused with both sizes")
{
    CHECK_THROWS_WITH_AS(gemm::parse_shape("2000000000x2000000000x2000000000"),
                         doctest::Contains("are left here"), std::invalid_argument);
    CHECK_THROWS_AS(gemm::require_size(std::int64_t{3'000'000}), std::invalid_argument);
    CHECK_NOTHROW(gemm::require_size(std::int64_t{1}));
}

TEST_CASE("a square has at least one row")
{
    CHECK_THROWS_AS(gemm::require_size(std::int64_t{0}), std::invalid_argument);
    CHECK_THROWS_AS(gemm::require_size(std::int64_t{-3}), std::invalid_argument);
}

TEST_CASE("the article's options make a shape, or say what does not agree")
{
    gemm::options() = {.a_columns = 1000, .a_rows = 312, .b_columns = 11, .b_rows = 1000};
    CHECK(std::get<std::string>(gemm::article_shapes().quick.front()) == "312x1000x11");
    gemm::options().b_rows = 999;
    CHECK_THROWS_WITH_AS(gemm::article_shapes(), doctest::Contains("1000 and 999"),
                         std::invalid_argument);
    gemm::options() = {.products = 0};
    CHECK_THROWS_WITH_AS(gemm::article_shapes(), doctest::Contains("--iter"),
                         std::invalid_argument);
    gemm::options() = {};
}

TEST_CASE("an algorithm is a number of the article's or a name")
{
    gemm::options().algorithm = std::string{"4"};
    CHECK(gemm::is_asked_for("tile_2d_any"));
    CHECK_FALSE(gemm::is_asked_for("cublas"));
    gemm::options().algorithm = std::string{"warp_tiles"};
    CHECK(gemm::is_asked_for("warp_tiles"));
    CHECK_NOTHROW(gemm::article_shapes());
    for (std::string const unknown : {"6", "foo", "-1"}) {
        gemm::options().algorithm = unknown;
        CHECK_THROWS_WITH_AS(gemm::article_shapes(), doctest::Contains("--algo"),
                             std::invalid_argument);
    }
    gemm::options() = {};
}

TEST_CASE("shapes are drawn from a hash alone, all of them kept")
{
    std::string const hash = "0123456789abcdef0123";
    for (bool const multiples : {true, false}) {
        CAPTURE(multiples);
        auto const shapes = gemm::draw_shapes(hash, multiples, 8192);
        CHECK(shapes.size() == 24);
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            auto const& [m, k, n] = shapes[i];
            auto const thin = (m < 128) + (k < 128) + (n < 128);
            CAPTURE(i);
            CHECK(std::min({m, k, n}) >= 1);
            CHECK(std::max({m, k, n}) <= 8192);
            if (multiples) {
                CHECK((m % 8 == 0 && k % 8 == 0 && n % 8 == 0));
                CHECK(thin <= (i < 12 ? 0 : 2)); // 124 to 127 become 128
            } else {
                CHECK((i < 12 ? thin == 0 : thin == 1 || thin == 2));
            }
        }
        auto const again = gemm::draw_shapes(hash.substr(0, 16), multiples, 8192);
        auto const other = gemm::draw_shapes("0123456789abcdee", multiples, 8192);
        auto const is_alike = [](auto const& a, auto const& b) {
            return a.m == b.m && a.k == b.k && a.n == b.n;
        };
        CHECK(std::ranges::equal(shapes, again, is_alike));
        CHECK_FALSE(std::ranges::equal(shapes, other, is_alike));
    }
    for (std::string const wrong : {"", "main", "12 "}) {
        CHECK_THROWS_WITH_AS(gemm::draw_shapes(wrong, true, 8192),
                             doctest::Contains("--drawn-from"), std::invalid_argument);
    }
}
