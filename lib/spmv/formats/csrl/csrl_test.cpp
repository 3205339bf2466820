#include "spmv/formats/csrl/csrl.hpp"

#include "spmv/formats/format_test.hpp"

using sparse::testing::Entries;

TEST_CASE("runs come back as the entries they were made from")
{
    sparse::testing::check_conversion(
        sparse::to_csrl<double>,
        [](sparse::Csrl<double> const& a, Entries& entries) {
            for (std::int32_t i = 0; i < a.rows; ++i) {
                auto p = a.view().position(i);
                CHECK(a.work_before(i) == p + sparse::run_work * a.first_run[i] + 2 * i);
                for (auto run = a.first_run[i]; run < a.first_run[i + 1]; ++run) {
                    for (std::int32_t k = 0; k < a.length[run]; ++k) {
                        entries.row[i][a.start[run] + k] = a.values[p++];
                    }
                }
            }
        },
        [](auto const& a) {
            return std::tie(a.first_run, a.start, a.length, a.values, a.checkpoint);
        });
}

TEST_CASE("the article's four arrays")
{
    // Rows: {0, 1, 2, 5}, {}, {3}, {0, 2, 3, 4}
    sparse::Pattern<> const structure{4, 6, {0, 4, 4, 5, 9}, {0, 1, 2, 5, 3, 0, 2, 3, 4}};
    auto const a = sparse::to_csrl<double>(sparse::testing::numbered(structure));
    CHECK(std::ranges::equal(a.first_run, std::vector{0, 2, 2, 3, 5}));
    CHECK(std::ranges::equal(a.start, std::vector{0, 5, 3, 0, 2}));
    CHECK(std::ranges::equal(a.length, std::vector{3, 1, 1, 1, 3}));
    CHECK(std::ranges::equal(a.values, std::vector{1., 2., 3., 4., 5., 6., 7., 8., 9.}));
    CHECK(a.bytes() == 4 * (5 + 5 + 5 + 1) + 9 * sizeof(double));
}

TEST_CASE("the values of runs behind a long row are found soon")
{
    sparse::testing::check_checkpoints(sparse::to_csrl<double>);
}
