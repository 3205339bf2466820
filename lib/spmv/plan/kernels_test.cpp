#include "spmv/plan/check_format.hpp"
#include "spmv/plan/parted.hpp"
#include "spmv/plan/shared_work.hpp"

#include <doctest/doctest.h>

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

namespace formats = spmv::formats;
using spmv::testing::check_format;
using spmv::testing::kernels_in;

namespace {

/// A copy of an array at whose end begins a page that nobody may read: a sanitizer does not see
/// what vector instructions load.
template <class T>
class AtTheEdge
{
public:
    explicit AtTheEdge(std::span<T const> from)
        : page_{static_cast<std::size_t>(sysconf(_SC_PAGESIZE))},
          bytes_{(from.size_bytes() + page_ - 1) / page_ * page_ + page_},
          memory_{static_cast<std::byte*>(
              mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))},
          copy_{reinterpret_cast<T*>(memory_ + bytes_ - page_) - from.size(), from.size()}
    {
        std::ranges::copy(from, copy_.begin());
        REQUIRE(mprotect(memory_ + bytes_ - page_, page_, PROT_NONE) == 0);
    }
    AtTheEdge(AtTheEdge const&) = delete;
    AtTheEdge& operator=(AtTheEdge const&) = delete;
    ~AtTheEdge() { munmap(memory_, bytes_); }

    std::span<T const> span() const { return copy_; }

private:
    std::size_t page_;
    std::size_t bytes_;
    std::byte* memory_;
    std::span<T> copy_;
};

} // namespace

TEST_CASE_TEMPLATE("rows read nothing behind the arrays of a matrix", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        AtTheEdge<std::int32_t> const col{test.a.col};
        AtTheEdge<T> const values{test.a.values};
        AtTheEdge<T> const x{test.x};
        sparse::CsrView<T> const a{test.a.rows, test.a.columns, test.a.row_ptr, col.span(),
                                   values.span()};
        for (auto const& set : spmv::format_kernels<T>()) {
            CAPTURE(std::string{set.name});
            std::vector<T> y(static_cast<std::size_t>(a.rows));
            for (auto* const kernel : {kernels_in<formats::csr::Csr>(set).cached,
                                       kernels_in<formats::csr::Csr>(set).streamed}) {
                std::ranges::fill(y, T(-1));
                kernel(a, x.span().data(), y.data(), {0, a.rows});
                CHECK(spmv::testing::first_wrong_row<T>(y, test.expected) == -1);
            }
        }
    }
}

TEST_CASE_TEMPLATE("rows multiply right", T, float, double)
{
    auto const refused =
        check_format<T>([](sparse::CsrView<T> const& a) { return spmv::CsrRows<T>{a}; },
                        kernels_in<formats::csr::Csr>);
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
                int const parts = narrow ? 1 : 3;
                sparse::SellOptions const options{sorted, narrow, unit_steps, parts};
                auto const convert = [=](sparse::CsrView<T> const& a) {
                    return sparse::to_sell<T>(a, options);
                };
                check_format<T>(convert, kernels_in<formats::sell::SellUnit>);
            }
        }
    }
}

TEST_CASE("sliced ELLPACK sorts rows among those of one part")
{
    auto const pattern = sparse::ragged(1000, 200, 90, 1);
    sparse::Csr<double> const a{pattern.rows, pattern.columns, pattern.row_ptr, pattern.col,
                                sparse::Array<double>(pattern.col.size(), 1.0)};
    for (int const parts : {1, 2, 5, 16, 2000}) {
        CAPTURE(parts);
        auto const sell = sparse::to_sell<double>(a.view(), {.parts = parts});
        REQUIRE(sell.units() == 125);
        double const share = static_cast<double>(a.nonzeros()) / parts;
        std::int32_t crossing = 0; // chunks with rows of parts that are no neighbours
        std::int32_t sorted = 0;
        for (std::int32_t c = 0; c < sell.units(); ++c) {
            if (!sell.chunks[c].sorted()) {
                continue;
            }
            ++sorted;
            double least = parts;
            double most = 0;
            for (std::int32_t i = 8 * c; i < std::min(8 * c + 8, a.rows); ++i) {
                auto const row = i / sparse::sell_window * sparse::sell_window + sell.order[i];
                double const part = static_cast<double>(a.row_ptr[row]) / share;
                least = std::min(least, part);
                most = std::max(most, part);
            }
            crossing += most - least > 1 + 8 * 200 / share ? 1 : 0;
        }
        CHECK(crossing == 0);
        CHECK((parts >= 2000 || sorted > 0));
    }
}

TEST_CASE_TEMPLATE("sliced ELLPACK reads nothing of x that a row does not", T, float, double)
{
    for (auto const& test : spmv::testing::structured_cases<T>()) {
        for (bool const unit_steps : {false, true}) {
            spmv::testing::check_unreferenced<T>(
                test,
                [=](sparse::CsrView<T> const& a) {
                    return sparse::to_sell<T>(a, {.unit_steps = unit_steps});
                },
                kernels_in<formats::sell::SellUnit>);
        }
    }
}

TEST_CASE_TEMPLATE("groups of chunks are alike, whole and without gathering steps", T, float,
                   double)
{
    std::size_t grouped = 0;
    for (auto const& test : spmv::testing::structured_cases<T>()) {
        CAPTURE(test.name);
        auto const a = sparse::to_sell<T>(test.a.view());
        std::int32_t const whole = a.rows / sparse::sell_height<T>;
        for (std::int32_t c = 0; c < a.units(); ++c) {
            if (!a.chunks[c].begins_group()) {
                continue;
            }
            ++grouped;
            REQUIRE(c + sparse::sell_group <= whole);
            auto const& pattern = a.patterns[a.chunks[c].pattern()];
            CHECK(pattern.full + pattern.partial == 0);
            CHECK_FALSE(a.chunks[c].sorted());
            for (std::int32_t k = 1; k < sparse::sell_group; ++k) {
                CHECK(a.chunks[c + k].bits == a.chunks[c].pattern()); // no flag, none begins here
            }
        }
    }
    CHECK(grouped > 0);
}

TEST_CASE_TEMPLATE("a range may begin and end within a group", T, float, double)
{
    spmv::testing::Generator random{3};
    for (auto const& structure : {sparse::poisson2d(16), sparse::banded(150, 71)}) {
        auto const a =
            spmv::testing::make_matrix<T>(structure, spmv::testing::Values::uniform, random);
        auto const x =
            spmv::testing::make_vector<T>(a.columns, spmv::testing::Values::uniform, random);
        auto const sell = sparse::to_sell<T>(a.view());
        for (auto const& set : spmv::format_kernels<T>()) {
            CAPTURE(std::string{set.name});
            std::vector<T> whole(static_cast<std::size_t>(a.rows));
            kernels_in<formats::sell::SellUnit>(set).streamed(sell.view(), x.data(), whole.data(),
                                                              {0, sell.units()});
            for (std::int32_t c = 0; c <= sell.units(); ++c) {
                std::vector<T> y(whole.size(), T(-1));
                kernels_in<formats::sell::SellUnit>(set).cached(sell.view(), x.data(), y.data(),
                                                                {0, c});
                kernels_in<formats::sell::SellUnit>(set).cached(sell.view(), x.data(), y.data(),
                                                                {c, sell.units()});
                CHECK(y == whole);
            }
        }
    }
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
    check(kernels_in<formats::blocked_coo::BlockedCoo<std::uint8_t>>, std::uint8_t{});
    check(kernels_in<formats::blocked_coo::BlockedCoo<std::uint16_t>>, std::uint16_t{});
    check(kernels_in<formats::blocked_coo::BlockedCoo<std::uint32_t>>, std::uint32_t{});
}

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

TEST_CASE("each part is done once, whoever takes it")
{
    for (int const threads : {1, 2, 3, 8}) {
        for (int const shares : {1, 2, 5, 16}) {
            CAPTURE(threads);
            CAPTURE(shares);
            std::vector<int> done(static_cast<std::size_t>(threads * shares));
            auto const body = [&](int part) {
                volatile int work = part % shares == 0 ? 20'000 : 0; // the first are slow
                while (work > 0) {
                    work = work - 1;
                }
                ++done[static_cast<std::size_t>(part)];
            };
            spmv::for_each_part(threads, shares, body);
            CHECK(std::ranges::all_of(done, [](int times) { return times == 1; }));
            // In a parallel region of the caller there is one thread for all of them.
#pragma omp parallel num_threads(2)
#pragma omp single
            spmv::for_each_part(threads, shares, body);
            CHECK(std::ranges::all_of(done, [](int times) { return times == 2; }));
        }
    }
}

TEST_CASE("a thread that is done takes what another one has not begun")
{
    std::atomic<bool> second_is_done = false;
    std::array<int, 4> thread = {};
    int team = 1;
    spmv::for_each_part(2, 2, [&](int part) {
        thread[static_cast<std::size_t>(part)] = omp_get_thread_num();
        if (part == 0) { // whoever has this one waits: the other thread has to do the next
            team = omp_get_num_threads();
            while (team == 2 && !second_is_done) {
                std::this_thread::yield();
            }
        }
        second_is_done = second_is_done || part == 1;
    });
    CHECK((team == 1 || thread[0] != thread[1]));
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
