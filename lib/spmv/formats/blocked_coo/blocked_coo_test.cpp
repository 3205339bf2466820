#include "sparse/catalogue/generators.hpp"
#include "spmv/formats/blocked_coo/blocked_coo.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using sparse::BlockedCoo;
using sparse::TileShape;

namespace {

/// A matrix of this structure whose values tell its entries apart.
sparse::Csr<double> with_values(sparse::Pattern<> const& pattern)
{
    sparse::Csr<double> a{pattern.rows, pattern.columns, pattern.row_ptr, pattern.col, {}};
    for (std::size_t p = 0; p < a.nonzeros(); ++p) {
        a.values.push_back(static_cast<double>(p + 1));
    }
    return a;
}

/// Row, column and value.
using Triple = std::tuple<std::int32_t, std::int32_t, double>;

std::vector<Triple> triples(sparse::CsrView<double> const& a)
{
    std::vector<Triple> all;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (std::int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            all.emplace_back(i, a.col[p], a.values[p]);
        }
    }
    return all;
}

template <class Index>
std::vector<Triple> triples(BlockedCoo<double, Index> const& a)
{
    std::vector<Triple> all;
    for (std::int32_t strip = 0; strip < a.units(); ++strip) {
        for (auto t = a.strip_tile[strip]; t < a.strip_tile[strip + 1]; ++t) {
            for (auto p = a.tiles[t].begin; p < a.tiles[t + 1].begin; ++p) {
                auto const row = static_cast<std::int32_t>(a.places[p] >> 8 * sizeof(Index));
                auto const column = static_cast<std::int32_t>(static_cast<Index>(a.places[p]));
                all.emplace_back(a.strip_row[strip] + row, a.tiles[t].column + column, a.values[p]);
            }
        }
    }
    return all;
}

template <class Index>
void check_shape(BlockedCoo<double, Index> const& a, TileShape const& shape)
{
    REQUIRE(a.strip_row.front() == 0);
    REQUIRE(a.strip_row.back() == a.rows);
    REQUIRE(a.work_before(a.units()) == static_cast<std::int32_t>(a.nonzeros()));
    for (std::int32_t strip = 0; strip < a.units(); ++strip) {
        auto const height = a.strip_row[strip + 1] - a.strip_row[strip];
        CHECK((0 < height && height <= shape.rows));
    }
    auto const empty = [](sparse::Tile const& tile, sparse::Tile const& next) {
        return tile.begin == next.begin;
    };
    CHECK(std::ranges::adjacent_find(a.tiles, empty) == a.tiles.end());
}

std::string message_of(TileShape const& shape)
{
    try {
        sparse::to_blocked_coo<double, std::uint8_t>(with_values(sparse::dense(3, 3)), shape);
    } catch (std::length_error const& error) {
        return error.what();
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE_TEMPLATE("every entry is in its tile", Index, std::uint8_t, std::uint16_t, std::uint32_t)
{
    for (auto const& pattern : {sparse::rmat(9, 5000, 1), sparse::ragged(700, 90, 12, 1),
                                sparse::random_rows(40, 3000, 50, 1), sparse::empty(300, 5)}) {
        auto const a = with_values(pattern);
        for (TileShape const& shape :
             {TileShape{256, 256, 1}, TileShape{100, 37, 5}, TileShape{1, 1, 1}}) {
            auto const blocked = sparse::to_blocked_coo<double, Index>(a, shape);
            check_shape(blocked, shape);
            auto found = triples(blocked);
            std::ranges::sort(found);
            CHECK(found == triples(a.view()));
        }
    }
}

TEST_CASE("columns are in order within a strip, rows within a column")
{
    auto const a = with_values(sparse::rmat(12, 40'000, 1));
    auto const blocked = sparse::to_blocked_coo<double, std::uint16_t>(a, {1024, 500, 1});
    auto const before = [&](Triple const& left, Triple const& right) {
        auto const strip = [](Triple const& triple) { return std::get<0>(triple) / 1024; };
        return std::tuple{strip(left), std::get<1>(left), std::get<0>(left)} <
               std::tuple{strip(right), std::get<1>(right), std::get<0>(right)};
    };
    CHECK(blocked.units() == 4);
    CHECK(std::ranges::is_sorted(triples(blocked), before));
}

TEST_CASE("the number of threads that convert does not matter")
{
    auto const a = with_values(sparse::rmat(12, 40'000, 1));
    auto const before = omp_get_max_threads();
    omp_set_num_threads(1);
    auto const one = sparse::to_blocked_coo<double, std::uint16_t>(a, {300, 500, 3});
    omp_set_num_threads(8);
    auto const eight = sparse::to_blocked_coo<double, std::uint16_t>(a, {300, 500, 3});
    omp_set_num_threads(before);
    CHECK(one.strip_row == eight.strip_row);
    CHECK(one.strip_tile == eight.strip_tile);
    CHECK(one.places == eight.places);
    CHECK(one.values == eight.values);
}

TEST_CASE("strips share the nonzeros of a skewed matrix evenly")
{
    auto const a = with_values(sparse::rmat(14, 200'000, 1));
    for (int const parts : {2, 8, 64}) {
        CAPTURE(parts);
        auto const blocked =
            sparse::to_blocked_coo<double, std::uint16_t>(a, {65536, 65536, parts});
        REQUIRE(blocked.units() == parts);
        std::int32_t heaviest = 0;
        for (std::int32_t strip = 0; strip < parts; ++strip) {
            heaviest =
                std::max(heaviest, blocked.work_before(strip + 1) - blocked.work_before(strip));
        }
        CHECK(heaviest < 1.2 * static_cast<double>(a.nonzeros()) / parts);
    }
}

TEST_CASE("a default shape leaves room for more than y in a cache, and no more than an index can "
          "tell apart")
{
    CHECK(sparse::tile_shape<double, std::uint16_t>(1 << 20, 1).rows == 49152);
    CHECK(sparse::tile_shape<double, std::uint16_t>(1 << 18, 1).rows == 12288);
    CHECK(sparse::tile_shape<float, std::uint16_t>(1 << 21, 1).rows == 65536);
    CHECK(sparse::tile_shape<float, std::uint8_t>(1 << 21, 4).rows == 256);
    CHECK(sparse::tile_shape<float, std::uint8_t>(1 << 21, 4).columns == 256);
    CHECK(sparse::tile_shape<float, std::uint32_t>(1 << 21, 1).rows == 3 << 16);
    CHECK(sparse::tile_shape<float, std::uint32_t>(0, 1).rows == 1);
}

TEST_CASE("a shape that does not fit is refused with its number")
{
    CHECK(message_of({257, 1, 1}) ==
          "blocked COO: rows of a strip: found 257, expected at most 256");
    CHECK(message_of({1, 300, 1}) ==
          "blocked COO: columns of a tile: found 300, expected at most 256");
    CHECK(message_of({0, 1, 1}) == "blocked COO: rows of a strip: found 0, expected at least 1");
    CHECK(message_of({1, 1, -2}) == "blocked COO: parts: found -2, expected at least 1");
    CHECK(message_of({256, 256, 1}).empty());
}

TEST_CASE("tiles in CSR need an offset for each of their rows and one more")
{
    sparse::Pattern<> const corners{512, 512, sparse::Array<std::int32_t>(513, 0), {0, 511}};
    auto a = corners;
    std::fill(a.row_ptr.begin() + 1, a.row_ptr.end() - 1, 1);
    a.row_ptr.back() = 2;
    CHECK(sparse::bytes_of_tiles_in_csr(a, 256, 8) == 2 * 257 + 2 * (1 + 8));
    CHECK(sparse::bytes_of_tiles_in_csr(a, 512, 4) == 513 * 2 + 2 * (2 + 4));
    CHECK(sparse::bytes_of_tiles_in_csr(sparse::Pattern<>{}, 256, 8) == 0);
}
