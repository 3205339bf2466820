#include "spmv/formats/masked_blocks/masked_blocks.hpp"

#include "spmv/formats/format_test.hpp"

#include <stdexcept>

using sparse::testing::Entries;
using sparse::testing::numbered;

namespace {

void write_masked_blocks(sparse::MaskedBlocks<double> const& a, Entries& entries)
{
    auto const rows = a.group_rows;
    for (std::int32_t unit = 0; unit < a.units(); ++unit) {
        auto p = a.view().position(unit);
        for (auto w = a.first_window[unit]; w < a.first_window[unit + 1]; ++w) {
            for (std::int32_t bit = 0; bit < rows * 8; ++bit) {
                if (a.mask[w * rows + bit / 8] >> bit % 8 & 1) {
                    entries.row[unit * rows + bit / 8][a.column[w] + bit % 8] = a.values[p++];
                }
            }
        }
    }
}

} // namespace

TEST_CASE("masked blocks come back as the entries they were made from")
{
    for (std::int32_t const rows : {1, 2, 3, 4, 6}) {
        CAPTURE(rows);
        sparse::testing::check_conversion(
            [&](sparse::CsrView<double> const& a) { return sparse::to_masked_blocks(a, rows); },
            write_masked_blocks,
            [](auto const& a) {
                return std::tie(a.first_window, a.column, a.mask, a.values, a.checkpoint);
            });
    }
}

TEST_CASE("a window begins at the first column that no other covers")
{
    sparse::Pattern<> const structure{3, 20, {0, 3, 5, 6}, {3, 4, 12, 2, 9, 19}};
    auto const a = sparse::to_masked_blocks<double>(numbered(structure), 2);
    CHECK(std::ranges::equal(a.first_window, std::vector{0, 2, 3}));
    CHECK(std::ranges::equal(a.column, std::vector{2, 12, 19}));
    CHECK(std::ranges::equal(a.mask, std::vector{0b110, 0b10000001, 1, 0, 1, 0}));
    CHECK(a.work_before(1) == 5 + 4 * 2 + 2 * 2); // nonzeros, windows, rows
}

TEST_CASE("runs that all rows of a group share are noticed")
{
    auto const in_runs = [](sparse::Pattern<> const& structure, std::int32_t rows) {
        return sparse::to_masked_blocks<double>(numbered(structure), rows).in_runs;
    };
    CHECK(in_runs(sparse::fem3(5), 3));
    CHECK_FALSE(in_runs(sparse::fem3(5), 4));
    CHECK(in_runs(sparse::banded(300, 64), 1));
    CHECK_FALSE(in_runs(sparse::ragged(300, 50, 20, 1), 1));
    CHECK_FALSE(in_runs(sparse::ragged(300, 50, 20, 1), 2));
}

TEST_CASE("groups of other sizes are refused")
{
    auto const a = numbered(sparse::dense(4, 2));
    for (std::int32_t const rows : {-1, 0, 5, 7}) {
        CHECK_THROWS_WITH_AS(
            sparse::to_masked_blocks<double>(a, rows),
            ("masked blocks have 1, 2, 3, 4 or 6 rows, not " + std::to_string(rows)).c_str(),
            std::length_error);
    }
}

TEST_CASE("the values of windows behind a long row are found soon")
{
    sparse::testing::check_checkpoints(
        [](sparse::CsrView<double> const& a) { return sparse::to_masked_blocks(a, 1); });
}
