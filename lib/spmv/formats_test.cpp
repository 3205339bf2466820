#include "spmv/check_format.hpp"

#include <doctest/doctest.h>

using spmv::testing::check_format;

namespace {

/// CSR as the other formats are.
template <class T>
struct Rows
{
    sparse::CsrView<T> a;
    std::int32_t units() const { return a.rows; }
    std::int64_t work_before(std::int32_t row) const { return a.row_ptr[row]; }
    sparse::CsrView<T> view() const { return a; }
};

} // namespace

TEST_CASE_TEMPLATE("rows multiply right", T, float, double)
{
    auto const refused = check_format<T>([](sparse::CsrView<T> const& a) { return Rows<T>{a}; },
                                         [](auto const& set) { return set.csr; });
    CHECK(refused == 0);
}

TEST_CASE_TEMPLATE("sliced ELLPACK multiplies right", T, float, double)
{
    for (bool const sorted : {false, true}) {
        for (bool const narrow : {false, true}) {
            for (bool const unit_steps : {false, true}) {
                CAPTURE(sorted);
                CAPTURE(narrow);
                CAPTURE(unit_steps);
                sparse::SellOptions const options{sorted, narrow, unit_steps};
                check_format<T>(
                    [=](sparse::CsrView<T> const& a) { return sparse::to_sell<T>(a, options); },
                    [](auto const& set) { return set.sell; });
                check_format<T>(
                    [=](sparse::CsrView<T> const& a) { return sparse::to_sell<T>(a, options); },
                    [](auto const& set) { return set.sell_prefetch; });
            }
        }
    }
}

TEST_CASE("parts are whole, in order and balanced")
{
    auto const work = [](std::int32_t unit) { return 10 * unit; };
    for (int const count : {1, 2, 3, 7, 100}) {
        CAPTURE(count);
        std::int32_t next = 0;
        for (auto const part : spmv::balanced_parts(23, count, work)) {
            CHECK(part.begin == next);
            CHECK(part.end >= part.begin);
            CHECK(part.end - part.begin <= 23 / count + 1);
            next = part.end;
        }
        CHECK(next == 23);
    }
    CHECK(spmv::balanced_parts(0, 3, work).size() == 3);
}
