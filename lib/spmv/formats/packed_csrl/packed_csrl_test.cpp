#include "spmv/formats/packed_csrl/packed_csrl.hpp"

#include "spmv/formats/format_test.hpp"

#include <stdexcept>

using sparse::testing::Entries;

TEST_CASE("packed runs come back as the entries they were made from")
{
    sparse::testing::check_conversion(
        sparse::to_packed_csrl<double>,
        [](sparse::PackedCsrl<double> const& a, Entries& entries) {
            for (std::int32_t i = 0; i < a.rows; ++i) {
                auto p = a.view().position(i);
                CHECK(a.work_before(i) == p + sparse::run_work * a.first_piece[i] + 2 * i);
                for (auto k = a.first_piece[i]; k < a.first_piece[i + 1]; ++k) {
                    for (std::int32_t j = 0; j < a.piece[k].length(); ++j) {
                        entries.row[i][a.piece[k].start() + j] = a.values[p++];
                    }
                }
            }
        },
        [](auto const& a) { return std::tie(a.first_piece, a.piece, a.values, a.checkpoint); });
}

TEST_CASE("a run of 65 is cut into pieces of 32, 32 and 1")
{
    auto const a = sparse::to_packed_csrl<double>(sparse::testing::numbered(sparse::dense(1, 65)));
    REQUIRE(a.piece.size() == 3);
    CHECK(a.piece[1].start() == 32);
    CHECK(a.piece[1].length() == 32);
    CHECK(a.piece[2].start() == 64);
    CHECK(a.piece[2].length() == 1);
}

TEST_CASE("a column is packed up to the last one, and refused beyond")
{
    constexpr std::int32_t columns = 1 << 27;
    sparse::Pattern<> structure{1, columns, {0, 1}, {columns - 1}};
    auto const a = sparse::to_packed_csrl<double>(sparse::testing::numbered(structure));
    CHECK(a.piece[0].start() == columns - 1);
    CHECK(a.piece[0].length() == 1);

    structure.columns = columns + 1;
    CHECK_THROWS_WITH_AS(sparse::to_packed_csrl<double>(sparse::testing::numbered(structure)),
                         "packed runs name columns below 134217728, the matrix has 134217729",
                         std::length_error);
}

TEST_CASE("the values of packed runs behind a long row are found soon")
{
    sparse::testing::check_checkpoints(sparse::to_packed_csrl<double>);
}
