#include "spmv/formats/delta_csr/delta_csr.hpp"

#include "spmv/formats/format_test.hpp"

#include <stdexcept>

using sparse::testing::Entries;

TEST_CASE("narrow columns come back as the entries they were made from")
{
    sparse::testing::check_conversion(
        sparse::to_delta_csr<double>,
        [](sparse::DeltaCsr<double> const& a, Entries& entries) {
            for (std::int32_t i = 0; i < a.rows; ++i) {
                for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
                    entries.row[i][a.first[i] + a.offset[p]] = a.values[p];
                }
            }
        },
        [](auto const& a) { return std::tie(a.row_ptr, a.first, a.offset, a.values); });
}

TEST_CASE("a row may span 65536 columns, not more")
{
    sparse::Pattern<> structure{2, 70'000, {0, 1, 3}, {5, 1000, 1000 + 65'535}};
    auto const a = sparse::to_delta_csr<double>(sparse::testing::numbered(structure));
    CHECK(a.offset[2] == 65'535);

    ++structure.col[2];
    CHECK_THROWS_WITH_AS(sparse::to_delta_csr<double>(sparse::testing::numbered(structure)),
                         "the columns of row 1 differ by 65536, a 16-bit offset reaches 65535",
                         std::length_error);
}
