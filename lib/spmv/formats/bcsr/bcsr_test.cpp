#include "spmv/formats/bcsr/bcsr.hpp"

#include "spmv/formats/format_test.hpp"

#include <stdexcept>

using sparse::BlockShape;
using sparse::testing::Entries;
using sparse::testing::numbered;

namespace {

void write_down(sparse::Bcsr<double> const& a, Entries& entries)
{
    auto const size = a.shape.size();
    for (std::int32_t unit = 0; unit < a.units(); ++unit) {
        for (auto b = a.first_block[unit]; b < a.first_block[unit + 1]; ++b) {
            for (std::int32_t k = 0; k < size; ++k) {
                auto const value = a.values[b * size + k];
                if (value != 0) {
                    entries.row[unit * a.shape.rows + k % a.shape.rows]
                               [a.column[b] + k / a.shape.rows] = value;
                }
            }
        }
    }
}

} // namespace

TEST_CASE("dense blocks come back as the entries they were made from")
{
    for (BlockShape const shape : {BlockShape{1, 1}, {2, 2}, {2, 3}, {3, 3}, {4, 2}, {8, 7}}) {
        CAPTURE(shape.rows);
        CAPTURE(shape.columns);
        sparse::testing::check_conversion(
            [&](sparse::CsrView<double> const& a) { return sparse::to_bcsr(a, shape); }, write_down,
            [](auto const& a) { return std::tie(a.first_block, a.column, a.values); });
    }
}

TEST_CASE("a block at the right edge is moved into the matrix")
{
    sparse::Pattern<> const structure{3, 7, {0, 2, 3, 4}, {0, 5, 6, 6}};
    auto const a = sparse::to_bcsr<double>(numbered(structure), {2, 3});
    CHECK(std::ranges::equal(a.column, std::vector{0, 3, 4, 4}));
    CHECK(a.units() == 2);
    CHECK(a.work_before(1) == 18 + 2 * 2); // stored elements, rows
    CHECK(a.values[6 + 4] == 2);           // row 0, column 5
    CHECK(a.values[12 + 5] == 3);          // row 1, column 6
    CHECK(a.values[18 + 4] == 4);          // row 2, column 6
    CHECK(a.values.size() == 24 + 8);      // padded by one vector
}

TEST_CASE("shapes that do not fit are refused")
{
    auto const a = numbered(sparse::dense(4, 2));
    CHECK_THROWS_WITH_AS(sparse::to_bcsr<double>(a, {9, 1}),
                         "blocks have sides of 1 to 8, not 9 x 1", std::length_error);
    CHECK_THROWS_WITH_AS(sparse::to_bcsr<double>(a, {1, 0}),
                         "blocks have sides of 1 to 8, not 1 x 0", std::length_error);
    CHECK_THROWS_WITH_AS(sparse::to_bcsr<double>(a, {2, 3}),
                         "blocks of 2 x 3 do not fit into 2 columns", std::length_error);
    CHECK_THROWS_AS(sparse::block_fill(a, {0, 1}), std::length_error);
}

TEST_CASE("the fill is that of the conversion where every block row is looked at")
{
    for (auto const& [label, structure] : sparse::testing::structures()) {
        std::string const name{label};
        CAPTURE(name);
        auto const a = numbered(structure);
        if (a.nonzeros() > 0) {
            BlockShape const shape{3, 2};
            auto const blocks = sparse::to_bcsr<double>(a, shape);
            CHECK(sparse::block_fill(a, shape) == static_cast<double>(blocks.column.size() * 6) /
                                                      static_cast<double>(a.nonzeros()));
        }
    }
    CHECK(sparse::block_fill(sparse::empty(5, 5), {2, 2}) == 1.0);
}

TEST_CASE("the fill of a large matrix is estimated")
{
    CHECK(sparse::block_fill(sparse::banded(100'000, 4), {4, 4}) ==
          doctest::Approx(3.0).epsilon(0.01));
    CHECK(sparse::block_fill(sparse::fem3(20), {3, 3}) == 1.0);
}

TEST_CASE("the best shape is that of the matrix")
{
    for (std::size_t const value_bytes : {4, 8}) {
        CHECK(sparse::best_block_shape(sparse::fem3_shuffled(8, 32, 1), value_bytes) ==
              BlockShape{3, 3});
        CHECK(sparse::best_block_shape(sparse::dense(64, 64), value_bytes) == BlockShape{8, 8});
        CHECK(sparse::best_block_shape(sparse::random_rows(1000, 1000, 5, 1), value_bytes) ==
              BlockShape{1, 1});
        CHECK(sparse::best_block_shape(sparse::empty(3, 0), value_bytes) == BlockShape{1, 1});
    }
}
