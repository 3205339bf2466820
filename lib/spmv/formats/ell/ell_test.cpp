#include "spmv/formats/ell/ell.hpp"

#include "spmv/formats/format_test.hpp"

#include <stdexcept>

using sparse::testing::Entries;

TEST_CASE("rows are filled up to the longest")
{
    sparse::Pattern<> const structure{3, 9, {0, 2, 2, 3}, {4, 7, 8}};
    auto const a = sparse::to_ell<double>(sparse::testing::numbered(structure));
    CHECK(a.width == 2);
    CHECK(a.column == sparse::AlignedArray<std::int32_t>{4, 0, 8, 7, 0, 8});
    CHECK(a.values[1] == 0);
    CHECK(a.bytes() == 6 * 12);
}

TEST_CASE("one long row among short ones is refused")
{
    sparse::Pattern<> structure{100, 500, {0}, {}};
    for (std::int32_t i = 0; i < 100; ++i) {
        for (std::int32_t j = 0; j < (i == 50 ? 400 : 1); ++j) {
            structure.col.push_back(j);
        }
        structure.row_ptr.push_back(static_cast<std::int32_t>(structure.col.size()));
    }
    CHECK_THROWS_AS(sparse::to_ell<double>(sparse::testing::numbered(structure)),
                    std::length_error);
}
