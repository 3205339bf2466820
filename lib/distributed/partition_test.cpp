#include "distributed/partition.hpp"

#include "distributed/graph.hpp"
#include "distributed/traffic.hpp"
#include "sparse/catalogue/generators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>

namespace {

using distributed::Partition;
using Offsets = std::vector<std::int64_t>;

constexpr auto contiguous_partitioners = distributed::contiguous_partitioners<std::int64_t>;

/// A matrix of which only the lengths of rows matter.
sparse::PatternView<std::int64_t> lengths(Offsets const& offsets)
{
    return {static_cast<std::int64_t>(offsets.size()) - 1, 0, offsets, {}};
}

/// Offsets of rows of random lengths, some of them empty, some very long.
Offsets random_offsets(std::mt19937_64& random, int rows)
{
    Offsets offsets{0};
    for (int i = 0; i < rows; ++i) {
        auto const kind = random() % 8;
        auto const length = kind == 0 ? 50 + random() % 50 : kind < 3 ? 0 : random() % 6;
        offsets.push_back(offsets.back() + static_cast<std::int64_t>(length));
    }
    return offsets;
}

std::int64_t bottleneck(Offsets const& offsets, Partition const& partition)
{
    std::int64_t most = 0;
    for (int r = 0; r < partition.ranks(); ++r) {
        most = std::max(most, offsets[static_cast<std::size_t>(partition.end(r))] -
                                  offsets[static_cast<std::size_t>(partition.begin(r))]);
    }
    return most;
}

/// The least bottleneck of all contiguous partitions of the rows from `first` on, by trying all.
std::int64_t tried_bottleneck(Offsets const& offsets, std::size_t first, int ranks)
{
    if (ranks == 1) {
        return offsets.back() - offsets[first];
    }
    auto best = std::numeric_limits<std::int64_t>::max();
    for (auto end = first; end < offsets.size(); ++end) {
        best = std::min(best, std::max(offsets[end] - offsets[first],
                                       tried_bottleneck(offsets, end, ranks - 1)));
    }
    return best;
}

void check_covers_once(Partition const& partition, std::int64_t rows, int ranks)
{
    CHECK(partition.ranks() == ranks);
    CHECK(partition.rows() == rows);
    std::set<std::int64_t> seen;
    for (int r = 0; r < ranks; ++r) {
        CHECK(partition.begin(r) <= partition.end(r));
        for (auto place = partition.begin(r); place < partition.end(r); ++place) {
            auto const row = partition.row_at(place);
            CHECK(row >= 0);
            CHECK(row < rows);
            CHECK(seen.insert(row).second);
            CHECK(partition.place_of(row) == place);
            CHECK(partition.owner_of(place) == r);
        }
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == rows);
}

sparse::PatternView<std::int32_t> view(sparse::Pattern<> const& a)
{
    return a;
}

} // namespace

TEST_CASE("contiguous partitions give every row to one rank, in order")
{
    std::mt19937_64 random{1};
    for (int const rows : {0, 1, 2, 7, 100}) {
        for (int const ranks : {1, 2, 3, 4, 7, 150}) {
            auto const offsets = random_offsets(random, rows);
            for (auto const& way : contiguous_partitioners()) {
                CAPTURE(way.name);
                CAPTURE(rows);
                CAPTURE(ranks);
                auto const partition = way.cut(lengths(offsets), ranks);
                CHECK(partition.is_contiguous());
                check_covers_once(partition, rows, ranks);
            }
        }
    }
}

TEST_CASE("32-bit offsets give the same partitions")
{
    std::mt19937_64 random{2};
    auto const wide = random_offsets(random, 60);
    std::vector<std::int32_t> const narrow(wide.begin(), wide.end());
    std::span<std::int32_t const> const offsets{narrow};
    CHECK(distributed::rounded_down(offsets, 7) ==
          contiguous_partitioners()[1].cut(lengths(wide), 7));
    CHECK(distributed::rounded_up(offsets, 7) ==
          contiguous_partitioners()[2].cut(lengths(wide), 7));
    CHECK(distributed::alternating(offsets, 7) ==
          contiguous_partitioners()[3].cut(lengths(wide), 7));
    CHECK(distributed::least_bottleneck(offsets, 7) ==
          contiguous_partitioners()[4].cut(lengths(wide), 7));
}

TEST_CASE("offsets beyond 32 bits")
{
    Offsets offsets{0};
    for (int i = 0; i < 1000; ++i) {
        offsets.push_back(offsets.back() + (std::int64_t{1} << 33));
    }
    for (auto const& way : contiguous_partitioners()) {
        CAPTURE(way.name);
        CHECK(bottleneck(offsets, way.cut(lengths(offsets), 10)) == 100 * (std::int64_t{1} << 33));
    }
}

TEST_CASE("rounding down leaves the rest to the last rank, rounding up leaves it nothing")
{
    Offsets offsets{0};
    for (int i = 0; i < 20; ++i) {
        offsets.push_back(offsets.back() + 10);
    }
    auto const ways = contiguous_partitioners();
    auto const sizes = [](Partition const& p) {
        std::vector<std::int64_t> all;
        for (int r = 0; r < p.ranks(); ++r) {
            all.push_back(p.size(r));
        }
        return all;
    };
    using Sizes = std::vector<std::int64_t>;
    CHECK(sizes(ways[0].cut(lengths(offsets), 8)) == Sizes{3, 3, 3, 3, 2, 2, 2, 2});
    CHECK(sizes(ways[1].cut(lengths(offsets), 8)) ==
          Sizes{2, 2, 2, 2, 2, 2, 2, 6}); // a share is 2.5 rows
    CHECK(sizes(ways[2].cut(lengths(offsets), 8)) == Sizes{3, 3, 3, 3, 3, 3, 2, 0});
    CHECK(sizes(ways[3].cut(lengths(offsets), 8)) == Sizes{3, 2, 3, 2, 3, 2, 3, 2});
    CHECK(bottleneck(offsets, ways[4].cut(lengths(offsets), 8)) == 30);
}

TEST_CASE("a row longer than a share stops rounding down, and no other way")
{
    Offsets const offsets{0, 1, 101, 102, 103, 104};
    auto const ways = contiguous_partitioners();
    CHECK(bottleneck(offsets, ways[1].cut(lengths(offsets), 4)) == 103);
    for (std::size_t const way : {2U, 3U, 4U}) {
        CHECK(bottleneck(offsets, ways[way].cut(lengths(offsets), 4)) <= 101);
    }
}

TEST_CASE("no contiguous partition has a smaller bottleneck")
{
    std::mt19937_64 random{3};
    for (int trial = 0; trial < 200; ++trial) {
        auto const rows = static_cast<int>(random() % 9);
        auto const ranks = 1 + static_cast<int>(random() % 5);
        auto const offsets = random_offsets(random, rows);
        auto const found =
            bottleneck(offsets, contiguous_partitioners()[4].cut(lengths(offsets), ranks));
        CHECK(found == tried_bottleneck(offsets, 0, ranks));
    }
}

TEST_CASE("partitions refuse what makes no sense")
{
    CHECK_THROWS_AS(Partition{std::vector<std::int64_t>{}}, std::invalid_argument);
    CHECK_THROWS_AS((Partition{{1, 2}}), std::invalid_argument);
    CHECK_THROWS_AS((Partition{{0, 3, 2}}), std::invalid_argument);
    std::vector<std::int32_t> const ranks{0, 2};
    CHECK_THROWS_AS((Partition{ranks, 2}), std::invalid_argument);
    Offsets const offsets{0, 1};
    CHECK_THROWS_AS(distributed::rounded_up(std::span<std::int64_t const>{offsets}, 0),
                    std::invalid_argument);
}

TEST_CASE("a permuted partition leads from rows to places and back")
{
    std::vector<std::int32_t> const rank_of_row{2, 0, 2, 1, 0, 2};
    Partition const partition{rank_of_row, 4};
    check_covers_once(partition, 6, 4);
    for (std::int64_t row = 0; row < 6; ++row) {
        CHECK(partition.owner_of(partition.place_of(row)) ==
              rank_of_row[static_cast<std::size_t>(row)]);
    }
}

TEST_CASE("traffic of a partition that can be counted by hand")
{
    auto const a = sparse::poisson2d(4);
    auto const rows = distributed::equal_rows(16, 4); // one line of the grid each
    auto const found = distributed::traffic(view(a), rows, rows);
    CHECK(found.ranks == 4);
    CHECK(found.nonzeros == 64);
    CHECK(found.most_nonzeros == 18);
    CHECK(found.imbalance() == doctest::Approx(18.0 / 16));
    CHECK(found.last() == doctest::Approx(14.0 / 16));
    CHECK(found.ghosts == 4 * (1 + 2 + 2 + 1));
    CHECK(found.most_ghosts == 8);
    CHECK(found.messages == 6);
    CHECK(found.most_messages == 2);
    CHECK(found.bytes(8) == 24 * 8);
    CHECK(found.idle_ranks == 0);
}

TEST_CASE("traffic of rectangular and empty matrices")
{
    auto const wide = sparse::dense(3, 10);
    auto const rows = distributed::equal_rows(3, 5);
    auto const found = distributed::traffic(view(wide), rows, distributed::columns_with(rows, 10));
    CHECK(found.idle_ranks == 2);
    CHECK(found.last() == 0);
    CHECK(found.ghosts == 3 * 8);
    CHECK(found.messages == 3 * 4);
    auto const nothing = sparse::empty(4, 4);
    auto const four = distributed::equal_rows(4, 2);
    auto const none = distributed::traffic(view(nothing), four, four);
    CHECK(none.imbalance() == 1);
    CHECK(none.last() == 1);
    CHECK(none.ghosts == 0);
    CHECK_THROWS_AS(distributed::traffic(view(nothing), rows, four), std::invalid_argument);
}

TEST_CASE("a study for ten thousand ranks needs none of them")
{
    auto const a = sparse::poisson2d(300);
    for (auto const& way : contiguous_partitioners()) {
        CAPTURE(way.name);
        Offsets const offsets(a.row_ptr.begin(), a.row_ptr.end());
        auto const rows = way.cut(lengths(offsets), 10'000);
        auto const found = distributed::traffic(view(a), rows, rows);
        CHECK(found.ranks == 10'000);
        CHECK(found.nonzeros == static_cast<std::int64_t>(a.nonzeros()));
        CHECK(found.ghosts > 0);
    }
}

TEST_CASE("the graph of an unsymmetric matrix has every edge at both ends, and no loops")
{
    auto const a = sparse::ragged(50, 50, 5, 11);
    auto const graph = distributed::graph_of<std::int32_t>(view(a));
    std::set<std::pair<int, int>> edges;
    for (int v = 0; v < graph.vertices(); ++v) {
        auto const at = static_cast<std::size_t>(v);
        CHECK(graph.work[at] == a.row_ptr[at + 1] - a.row_ptr[at] + 1);
        for (auto p = graph.offsets[at]; p < graph.offsets[at + 1]; ++p) {
            CHECK(edges.emplace(v, graph.neighbours[static_cast<std::size_t>(p)]).second);
        }
    }
    std::set<std::pair<int, int>> wanted;
    for (int i = 0; i < a.rows; ++i) {
        for (auto p = a.row_ptr[static_cast<std::size_t>(i)];
             p < a.row_ptr[static_cast<std::size_t>(i) + 1]; ++p) {
            int const j = a.col[static_cast<std::size_t>(p)];
            if (i != j) {
                wanted.emplace(i, j);
                wanted.emplace(j, i);
            }
        }
    }
    CHECK(edges == wanted);
}

TEST_CASE("a graph that the library's index type cannot hold is refused")
{
    auto const a = sparse::dense(12, 12);
    CHECK_THROWS_AS(distributed::graph_of<std::int8_t>(view(a)), std::length_error);
    CHECK_NOTHROW(distributed::graph_of<std::int16_t>(view(a)));
}

TEST_CASE("the graph partitioner")
{
    auto const a = sparse::poisson2d(40);
    if (distributed::graph_partitioner().empty()) {
        CHECK_THROWS_AS(distributed::by_graph(view(a), 4), std::runtime_error);
        return;
    }
    MESSAGE(distributed::graph_partitioner());
    for (int const ranks : {1, 2, 7, 16, 1600, 2000}) {
        auto const rows = distributed::by_graph(view(a), ranks);
        check_covers_once(rows, 1600, ranks);
        CHECK(rows == distributed::by_graph(view(a), ranks)); // deterministic
    }
    auto const graph = distributed::by_graph(view(a), 16);
    auto const lines = distributed::equal_rows(1600, 16);
    auto const fewer = distributed::traffic(view(a), graph, graph);
    CHECK(fewer.ghosts < distributed::traffic(view(a), lines, lines).ghosts);
    CHECK(fewer.imbalance() < 1.2);
    CHECK_THROWS_AS(distributed::by_graph(view(sparse::dense(2, 3)), 2), std::invalid_argument);
    auto const empty_rows = sparse::empty(9, 9);
    check_covers_once(distributed::by_graph(view(empty_rows), 2), 9, 2);
}
