#include "distributed/anatomy.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace {

/// 4 x 6: {0, 1, 5}, {}, {2}, {0, 1, 2, 3}.
sparse::Pattern<> ragged()
{
    sparse::Pattern<> a;
    a.rows = 4;
    a.columns = 6;
    a.row_ptr = {0, 3, 3, 4, 8};
    a.col = {0, 1, 5, 2, 0, 1, 2, 3};
    return a;
}

TEST_CASE("anatomy counts rows, runs and distances by powers of two")
{
    auto const found = distributed::anatomy(ragged(), 100);
    CHECK(found.row_lengths == distributed::PowerCounts{1, 1, 1, 1});
    CHECK(found.run_lengths == distributed::PowerCounts{0, 2, 1, 1});
    CHECK(found.distances == distributed::PowerCounts{3, 2, 2, 1});
    CHECK(found.lower_bandwidth == 3);
    CHECK(found.upper_bandwidth == 5);
}

TEST_CASE("a picture holds every nonzero once and keeps the shape")
{
    auto const exact = distributed::anatomy(ragged(), 100);
    CHECK(exact.spy_rows == 4);
    CHECK(exact.spy_columns == 6);
    CHECK(exact.spy[5] == 1);
    CHECK(exact.spy[3 * 6 + 4] == 0);
    auto const coarse = distributed::anatomy(ragged(), 3);
    CHECK(coarse.spy_rows == 2);
    CHECK(coarse.spy_columns == 3);
    CHECK(std::accumulate(coarse.spy.begin(), coarse.spy.end(), std::int64_t{0}) == 8);
}

TEST_CASE("a matrix without rows has no picture")
{
    auto const found = distributed::anatomy(sparse::Pattern<>{}, 10);
    CHECK(found.spy.empty());
    CHECK(found.row_lengths.empty());
}

TEST_CASE("contiguous partitions of rows alike are balanced")
{
    for (auto const& dealt : distributed::contiguous(ragged(), 2)) {
        CHECK(dealt.traffic.ranks == 2);
        CHECK(dealt.traffic.nonzeros == 8);
        CHECK(dealt.traffic.imbalance() >= 1.0);
    }
}

} // namespace
