#include "sparse/catalogue/digest.hpp"

#include "sparse/catalogue/generators.hpp"

#include <doctest/doctest.h>

#include <cstdint>

TEST_CASE("the digest of a structure is that of its numbers as little-endian integers")
{
    // [1 0 1]
    // [0 0 0], so: 2, 3, 2, then 0, 2, 2, then 0, 2.
    sparse::Pattern<> pattern;
    pattern.rows = 2;
    pattern.columns = 3;
    pattern.row_ptr = {0, 2, 2};
    pattern.col = {0, 2};
    // In Python: sha256(pack("<3Q", 2, 3, 2) + pack("<5I", 0, 2, 2, 0, 2)).hexdigest()
    CHECK(sparse::structure_digest(pattern) ==
          "905d6e85e419eaa9556a58f6401d53460bc2ed38a955378d3120680e63ec3b07");
}

TEST_CASE("the digest does not depend on the index type")
{
    CHECK(sparse::structure_digest(sparse::ragged<std::int32_t>(3000, 700, 9, 5)) ==
          sparse::structure_digest(sparse::ragged<std::int64_t>(3000, 700, 9, 5)));
}

TEST_CASE("what does not fit 31 bits takes 64")
{
    sparse::Pattern<std::int64_t> pattern;
    pattern.rows = 1;
    pattern.columns = std::int64_t{1} << 31;
    pattern.row_ptr = {0, 1};
    pattern.col = {7};
    // In Python: sha256(pack("<6Q", 1, 1 << 31, 1, 0, 1, 7)).hexdigest()
    CHECK(sparse::structure_digest(pattern) ==
          "67622ccb734b866cbc78a5f0c7309521a388ce0c7acc1093b33874670134721f");
}

TEST_CASE("the digest tells shapes apart")
{
    auto const of = [](auto const& pattern) { return sparse::structure_digest(pattern); };
    CHECK(of(sparse::empty(1, 2)) != of(sparse::empty(2, 1)));
    CHECK(of(sparse::empty(0, 0)) != of(sparse::empty(0, 1)));
    CHECK(of(sparse::dense(1, 4)) != of(sparse::dense(2, 2)));
    CHECK(of(sparse::ragged(50, 50, 5, 1)) != of(sparse::ragged(50, 50, 5, 2)));
}
