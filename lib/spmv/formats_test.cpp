#include "spmv/format_kernels.hpp"
#include "spmv/test_matrices.hpp"

#include "sparse/parallel.hpp"

#include <doctest/doctest.h>

#include <string>

using spmv::testing::check_multiply;

namespace {

/// Checks a kernel of every instruction set on the awkward matrices, whole and cut into parts that
/// run on several threads. `convert(a)` returns a format with `units()` and `view()`; `kernel(set)`
/// its kernel in that set.
template <class T, class Convert, class Kernel>
void check_format(Convert const& convert, Kernel const& kernel)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        auto const format = convert(test.a.view());
        for (auto const& set : spmv::format_kernels<T>()) {
            CAPTURE(std::string{set.name});
            for (int const parts : {1, 2, 3, 8}) {
                CAPTURE(parts);
                auto const each = [](std::int32_t unit) { return unit; };
                auto const ranges = spmv::balanced_parts(format.units(), parts, each);
                check_multiply<T>(test, [&](std::span<T const> x, std::span<T> y) {
                    sparse::parallel_for(ranges.size(), [&](std::size_t part) {
                        kernel(set)(format.view(), x.data(), y.data(), ranges[part]);
                    });
                });
            }
        }
    }
}

/// CSR as the other formats are.
template <class T>
struct Rows
{
    sparse::CsrView<T> a;
    std::int32_t units() const { return a.rows; }
    sparse::CsrView<T> view() const { return a; }
};

} // namespace

TEST_CASE_TEMPLATE("rows multiply right", T, float, double)
{
    check_format<T>([](sparse::CsrView<T> const& a) { return Rows<T>{a}; },
                    [](auto const& set) { return set.csr; });
}

TEST_CASE_TEMPLATE("blocked coordinates multiply right", T, float, double)
{
    auto const check = []<class Index>(auto kernel, Index) {
        auto const whole_cache = sparse::tile_shape<T, Index>(std::size_t{1} << 20, 1);
        for (auto const& shape :
             {whole_cache, sparse::TileShape{200, 100, 8}, sparse::TileShape{3, 7, 1}}) {
            CAPTURE(shape.rows);
            check_format<T>(
                [&](sparse::CsrView<T> const& a) {
                    return sparse::to_blocked_coo<T, Index>(a, shape);
                },
                kernel);
        }
    };
    check([](auto const& set) { return set.blocked_coo8; }, std::uint8_t{});
    check([](auto const& set) { return set.blocked_coo16; }, std::uint16_t{});
    check([](auto const& set) { return set.blocked_coo32; }, std::uint32_t{});
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
