#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>
#include <vector>

using spmv::testing::check_format;
using spmv::testing::kernels_in;

// What holds for every format.

namespace {

/// Checks a format as a plan would build it.
template <class T, class Format>
void check_as_planned()
{
    CAPTURE(Format::name.name);
    auto const convert = [](sparse::CsrView<T> const& a) {
        spmv::BuildOptions build;
        if constexpr (requires { Format::template bytes<T>(a, build); }) {
            static_cast<void>(Format::template bytes<T>(a, build));
        }
        return Format::template build<T>(a, build);
    };
    check_format<T>(convert, kernels_in<Format>);
}

template <class T, class... Format>
void check_all(std::tuple<Format...> const*)
{
    ((Format::rounds ? void() : check_as_planned<T, Format>()), ...);
}

} // namespace

TEST_CASE_TEMPLATE("every format of the list multiplies right as a plan builds it", T, float,
                   double)
{
    check_all<T>(static_cast<spmv::Formats const*>(nullptr));
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

TEST_CASE("rows without nonzeros are dealt to all parts too")
{
    constexpr int parts = 8;
    auto pattern = sparse::random_rows(1000, 60'000, 4, 1);
    pattern.rows = 60'000;
    pattern.row_ptr.resize(60'001, pattern.row_ptr.back());
    spmv::testing::Generator random{1};
    auto const a =
        spmv::testing::make_matrix<double>(pattern, spmv::testing::Values::integers, random);
    auto const most_rows = [](auto const& format, std::int32_t rows_of_unit) {
        std::int32_t most = 0;
        auto const work = [&](std::int32_t unit) { return format.work_before(unit); };
        for (auto const part : spmv::balanced_parts(format.units(), parts, work)) {
            most = std::max(most, (part.end - part.begin) * rows_of_unit);
        }
        return most;
    };
    constexpr std::int32_t few = 15'000; // of 60,000
    // Some formats: a new one needs no line here.
    CHECK(most_rows(spmv::CsrRows<double>{a.view()}, 1) < few);
    CHECK(most_rows(sparse::to_delta_csr<double>(a.view()), 1) < few);
    CHECK(most_rows(sparse::to_csrl<double>(a.view()), 1) < few);
    CHECK(most_rows(sparse::to_packed_csrl<double>(a.view()), 1) < few);
    CHECK(most_rows(sparse::to_bcsr<double>(a.view(), {3, 3}), 3) < few);
    CHECK(most_rows(sparse::to_masked_blocks<double>(a.view(), 4), 4) < few);
    CHECK(most_rows(sparse::to_sell<double>(a.view(), {}), sparse::sell_height<double>) < few);
}

TEST_CASE("the part that has most decides the imbalance")
{
    struct Units
    {
        std::vector<std::size_t> before;
        std::int32_t units() const { return static_cast<std::int32_t>(before.size()) - 1; }
        std::size_t work_before(std::int32_t unit) const
        {
            return before[static_cast<std::size_t>(unit)];
        }
    };
    CHECK(spmv::imbalance(Units{{0, 5, 10, 15, 20}}, 1) == 1);
    CHECK(spmv::imbalance(Units{{0, 5, 10, 15, 20}}, 2) == 1);
    CHECK(spmv::imbalance(Units{{0, 5, 10, 15, 20}}, 8) == 2); // half of them have nothing
    CHECK(spmv::imbalance(Units{{0, 18, 19, 20}}, 2) == 1.8);  // one unit has nearly all
    CHECK(spmv::imbalance(Units{{0}}, 4) == 1);
    CHECK(spmv::imbalance(Units{{0, 0, 0}}, 4) == 1);
}
