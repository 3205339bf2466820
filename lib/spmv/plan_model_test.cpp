#include "spmv/plan.hpp"
#include "spmv/plan_formats.hpp"
#include "spmv/plan_misses.hpp"
#include "spmv/plan_model.hpp"
#include "spmv/test_matrices.hpp"

#include "sparse/generators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

using spmv::testing::classes;
using spmv::testing::filled;

TEST_CASE_TEMPLATE("every format asks early for a matrix that comes from memory, but short rows", T,
                   float, double)
{
    auto const processor = spmv::detect_processor("avx512");
    auto const asks = [&](sparse::Csr<T> const& a, std::string_view format, bool cold) {
        auto const found = spmv::estimate_formats<T>(a, processor, {1, cold, format});
        REQUIRE(!found.empty());
        return found.front().build.streamed;
    };
    auto const blocks = filled<T>(sparse::fem3(5));
    auto const tiny = filled<T>(sparse::short_rows(500, 20, 1));
    for (auto const& format : spmv::plan_formats()) {
        CAPTURE(format.name);
        bool const rows = format.name == "csr" || format.name == "delta_csr";
        CHECK(asks(blocks, format.name, true) == !(rows && sizeof(T) == 4)); // rows of 24 to 81
        CHECK(asks(tiny, format.name, true) == !rows);                       // of one to three
        CHECK_FALSE(asks(blocks, format.name, false));
    }
}

TEST_CASE("where the shared cache is slow, blocks beyond a core's own ask early, others later")
{
    auto const a = filled<float>(sparse::fem3(12)); // of about 1.7 MB
    auto const asks = [&](std::string_view kernels, std::string_view format, std::size_t core) {
        spmv::Caches const caches{std::size_t{48} << 10, core, std::size_t{300} << 20};
        auto const processor = spmv::processor("intel", kernels, caches);
        auto const found = spmv::estimate_formats<float>(a, processor, {1, false, format});
        REQUIRE(!found.empty());
        return found.front().build.streamed;
    };
    constexpr std::size_t half = 512 << 10; // of what the formats take, or less
    constexpr std::size_t eighth = 64 << 10;
    CHECK(asks("avx512_gather", "bcsr", half));
    CHECK_FALSE(asks("avx512_gather", "sell_unit", half));
    CHECK(asks("avx512_gather", "sell_unit", eighth));
    CHECK_FALSE(asks("avx512", "bcsr", eighth)); // its shared cache is fast
}

TEST_CASE_TEMPLATE("tiles of scattered elements are cut into bands where that was found to gain", T,
                   float, double)
{
    spmv::Caches const caches{std::size_t{48} << 10, std::size_t{256} << 10, std::size_t{64} << 20};
    auto const band = [&](std::string_view kernels, sparse::Pattern<> const& pattern) {
        auto const processor = spmv::processor("intel", kernels, caches);
        auto const found = spmv::estimate_formats<T>(filled<T>(pattern).view(), processor,
                                                     {1, false, "blocked_coo16"});
        REQUIRE(found.size() == 1);
        return found.front().build.band;
    };
    constexpr std::int32_t third = (16 << 10) / sizeof(T);
    constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
    auto const scattered = sparse::random_rows(20'000, 20'000, 8, 1);
    CHECK(band("avx512_gather", scattered) == third);
    CHECK(band("avx512", scattered) == none);
    CHECK(band("avx512_gather", sparse::banded(20'000, 8)) == none);                    // near
    CHECK(band("avx512_gather", sparse::random_rows(20'000, 9'000'000, 8, 1)) == none); // too far
}

TEST_CASE_TEMPLATE("where caches are empty, each thread fetches the elements of x under its tiles",
                   T, float, double)
{
    auto const processor = spmv::processor("intel", "avx512_gather", {48 << 10, 1 << 20, 64 << 20});
    auto const left_by_sixteen = [&](sparse::Pattern<> const& pattern) { // of one thread's time
        auto const a = filled<T>(pattern);
        auto const time = [&](int threads) {
            spmv::ModelOptions const options{threads, true, "blocked_coo16"};
            return spmv::estimate_formats<T>(a, processor, options).front().nanoseconds;
        };
        return time(16) / time(1);
    };
    double const few = left_by_sixteen(sparse::banded(60'000, 10));
    CHECK(left_by_sixteen(sparse::random_rows(60'000, 500'000, 10, 1)) > 1.4 * few);
    CHECK(left_by_sixteen(sparse::short_rows(300'000, 20, 1)) < 1.25 * few); // each its own
}

TEST_CASE("every kind of processor has the same constants, one for each term")
{
    auto const names = [](spmv::Processor const& processor) {
        std::vector<std::string_view> terms;
        for (spmv::TermTime const& time : processor.times) {
            CAPTURE(processor.kind);
            CAPTURE(time.term);
            CHECK(std::isfinite(time.single_ns));
            CHECK(std::isfinite(time.double_ns));
            CHECK(std::min(time.single_ns, time.double_ns) >= 0);
            CHECK(processor.misses_at_a_time >= 1);
            terms.push_back(time.term);
        }
        return terms;
    };
    struct Expected
    {
        std::string_view vendor;
        std::string_view kernels;
        std::size_t first_cache;
        std::string_view kind;
    };
    auto const of = [](Expected const& some) {
        return spmv::processor(some.vendor, some.kernels,
                               {some.first_cache, std::size_t{1} << 20, std::size_t{32} << 20});
    };
    constexpr std::size_t zen4 = 32 << 10;
    constexpr std::size_t zen5 = 48 << 10;
    auto const expected = names(of({"amd", "avx512", zen5, "amd_avx512"}));
    CHECK(std::set(expected.begin(), expected.end()).size() == expected.size());
    for (Expected const& some : {Expected{"amd", "avx512", zen5, "amd_avx512"},
                                 {"amd", "avx512", zen4, "zen4"},
                                 {"intel", "avx512", zen4, "intel_avx512"},
                                 {"intel", "avx512_gather", zen5, "avx512_gather"},
                                 {"amd", "avx2", zen4, "avx2"},
                                 {"intel", "avx2", zen5, "avx2"},
                                 {"other", "baseline", zen5, "other"}}) {
        auto const processor = of(some);
        CHECK(processor.kind == some.kind);
        CHECK(names(processor) == expected);
        for (bool const single : {true, false}) { // farther bytes take no less time
            spmv::Term const near{"cache.core_byte", 1};
            spmv::Term const far{"cache.shared_byte", 1};
            CHECK(processor.nanoseconds({&near, 1}, single) <=
                  processor.nanoseconds({&far, 1}, single));
        }
        for (auto const& [name, pattern] : classes()) { // a term without constant would throw
            CHECK(spmv::estimate_formats<double>(filled<double>(pattern), processor, {}).size() >
                  1);
        }
    }
}

TEST_CASE("threads share cores when more than half of the hardware threads work")
{
    auto const share = [](int hardware_threads, int threads) {
        return spmv::processor("intel", "avx512_gather", machine::topology().core_caches,
                               hardware_threads)
            .crowded_share(threads);
    };
    CHECK(share(16, 16) == 1);
    CHECK(share(16, 12) == doctest::Approx(2.0 / 3)); // eight of the twelve
    CHECK(share(16, 8) == 0);
    CHECK(share(16, 1) == 0);
    CHECK(share(16, 99) == 1);
    CHECK(share(2, 2) == 1);
    CHECK(share(1, 1) == 0); // with whom?
    CHECK(share(0, 8) == 0); // unknown
    auto const cores = spmv::processor("amd", "avx512", machine::topology().core_caches, 2);
    CHECK(cores.crowded_share(2) == 0); // measured to be two
}

namespace {

/// How often the model counts a term of the core in the first way to build a format.
double count_of(std::string_view term, sparse::CsrView<double> const& a, std::string_view format,
                int threads)
{
    auto const processor =
        spmv::processor("intel", "avx512_gather", machine::topology().core_caches);
    auto const ways = spmv::estimate_formats<double>(a, processor, {threads, false, format});
    auto const& terms = ways.at(0).core;
    return std::ranges::find(terms, term, &spmv::Term::name)->count;
}

} // namespace

TEST_CASE("each doubling of the threads takes as long to wake")
{
    auto const a = filled<double>(sparse::poisson2d(20));
    CHECK(count_of("threads.fork", a, "csr", 1) == 0);
    CHECK(count_of("threads.fork", a, "csr", 2) == 1);
    CHECK(count_of("threads.fork", a, "csr", 16) == 4);
}

TEST_CASE("one thread writes the long rows, in lines that the others have")
{
    sparse::Pattern<> pattern;
    pattern.rows = 2000;
    pattern.columns = 5000;
    for (std::int32_t i = 0; i < pattern.rows; ++i) { // every hundredth row is long
        std::int32_t const length = i % 100 == 0 ? 400 : 5;
        for (std::int32_t k = 0; k < length; ++k) {
            pattern.col.push_back(12 * k);
        }
        pattern.row_ptr.push_back(static_cast<std::int32_t>(pattern.col.size()));
    }
    auto const a = filled<double>(pattern);
    CHECK(count_of("threads.long_row", a, "sell_unit", 1) == 0);
    CHECK(count_of("threads.long_row", a, "sell_unit", 2) == 10);
    CHECK(count_of("threads.long_row", a, "sell_unit", 16) == doctest::Approx(20 * 15.0 / 16));
    CHECK(count_of("threads.long_row", a, "csr", 16) == 0);                  // its rows stay whole
    auto const few = filled<double>(sparse::random_rows(40, 9000, 3000, 1)); // hard to deal whole
    CHECK(count_of("threads.long_row", few, "csr", 16) == 40 * 15.0 / 16);
    CHECK(count_of("threads.long_row", few, "csr", 1) == 0);
}

TEST_CASE("what a core's cache cannot hold streams through it")
{
    auto const a = filled<double>(sparse::poisson2d(150)); // about 1.3 MB as CSR
    auto const streamed = [&](std::size_t core) {
        spmv::Caches const caches{std::size_t{48} << 10, core, std::size_t{300} << 20};
        auto const processor = spmv::processor("intel", "avx512_gather", caches);
        auto const rows = spmv::estimate_formats<double>(a, processor, {.only = "csr"});
        double count = 0;
        for (auto const& term : rows.at(0).memory) {
            count += term.name == "cache.streamed_byte" ? term.count : 0;
        }
        return count;
    };
    CHECK(streamed(std::size_t{16} << 20) == 0);
    CHECK(streamed(std::size_t{512} << 10) > 1e6);
}

TEST_CASE("of what just fits in the shared cache, a part comes from memory")
{
    auto const a = filled<double>(sparse::poisson2d(100));
    auto const fetched = [&](double shared, bool cold) {
        spmv::Caches const caches{1 << 10, 2 << 10, static_cast<std::size_t>(shared)};
        auto const processor = spmv::processor("amd", "avx512", caches);
        auto const rows = spmv::estimate_formats<double>(a, processor, {1, cold, "csr"});
        auto const& terms = rows.at(0).memory;
        return std::ranges::find(terms, "memory.byte", &spmv::Term::name)->count;
    };
    double const touched = 12.0 * static_cast<double>(a.nonzeros()) + 20 * 10'000;
    double const all = fetched(touched / 4, false);
    CHECK(all == doctest::Approx(touched * 17 / 16));
    CHECK(fetched(touched, false) == all);
    CHECK(fetched(touched / 0.775, false) == doctest::Approx(all / 2).epsilon(0.01));
    CHECK(fetched(touched / 0.7, false) == doctest::Approx(all / 5).epsilon(0.01));
    CHECK(fetched(touched / 0.6, false) == 0);
    CHECK(fetched(touched / 0.6, true) == all);
}

TEST_CASE("the second level has a price of its own while a matrix streams through it")
{
    spmv::Misses const misses{0.5, 0.2, 0.1};
    spmv::Caches const caches{std::size_t{32} << 10, std::size_t{1} << 20, std::size_t{32} << 20};
    auto const waits = [&](double megabytes, bool cold, bool streamed) {
        return spmv::vector_waits(misses, {1e6, megabytes * (1 << 20), cold, streamed}, caches);
    };
    auto const in_a_core = waits(0.4, false, false);
    CHECK(in_a_core.near == doctest::Approx(3e5)); // of what the first level has not
    CHECK(in_a_core.busy + in_a_core.shared + in_a_core.memory == 0);
    auto const busy = waits(2, false, true);
    CHECK(busy.busy == doctest::Approx(3e5));
    CHECK(busy.near == 0);
    CHECK(busy.shared == doctest::Approx(1e5));
    CHECK(busy.memory == 0);
    CHECK(waits(20, false, true).memory == doctest::Approx(1e5)); // too much for the shared cache
    auto const cold = waits(2, true, true); // each line of x once from memory, which is some of all
    CHECK(cold.memory == doctest::Approx(1e5 * (2 << 20) / 64 / 2e5));
    CHECK(cold.shared == doctest::Approx(1e5 - cold.memory));
}

TEST_CASE("misses on the way at the same time are waited for once")
{
    constexpr std::int32_t line = 8;
    auto const misses_of = [](std::int32_t bursts, std::int32_t in_each, double at_a_time) {
        spmv::Sample<double> sample; // of 100 nonzeros, so many have a line of their own
        sample.a.row_ptr = {0, 100 * bursts};
        sample.a.rows = 1;
        sample.ends = {1};
        for (std::int32_t k = 0; k < 100 * bursts; ++k) {
            bool const far = k % 100 < in_each;
            sample.a.col.push_back(far ? line * (100 + 2 * k) : 0);
        }
        spmv::Caches const caches{1 << 10, std::size_t{16} << 20, std::size_t{64} << 20};
        return spmv::count_misses(sample, 1, caches, at_a_time);
    };
    auto const in_a_hundred = [](double count) { return doctest::Approx(count / 100).scale(0.01); };
    auto const one = misses_of(40, 1, 24);
    CHECK(one.core == in_a_hundred(1).epsilon(0.02)); // the shared line is a miss too, once
    CHECK(one.waits == in_a_hundred(1));
    auto const ten = misses_of(40, 10, 24);
    CHECK(ten.core == in_a_hundred(10).epsilon(0.02));
    CHECK(ten.waits == in_a_hundred(1));
    CHECK(misses_of(40, 10, 4).waits == in_a_hundred(2.5).epsilon(0.02)); // no more at a time
}

TEST_CASE_TEMPLATE("rows side by side share elements of x where one row has passed all of it", T,
                   float, double)
{
    auto const a = filled<T>(sparse::random_rows(48, 400'000, 6000, 1));
    spmv::Caches const caches{std::size_t{32} << 10, std::size_t{256} << 10, std::size_t{64} << 20};
    auto const sample = spmv::take_sample<T>(a, 3072, std::numeric_limits<std::int32_t>::max());
    auto const by_rows = spmv::count_misses(sample, 1, caches, 24);
    auto const by_chunks = spmv::count_misses(sample, 16, caches, 24);
    CHECK(by_rows.core > 0.5); // each row comes to another line, and few of these are still there
    CHECK(by_chunks.core < 0.7 * by_rows.core);
    auto const processor = spmv::processor("amd", "avx512", caches);
    auto const waits = [&](std::string_view format) {
        auto const found = spmv::estimate_formats<T>(a, processor, {1, false, format});
        auto const& terms = found.at(0).core;
        return std::ranges::find(terms, "x.shared", &spmv::Term::name)->count;
    };
    CHECK(waits("sell_unit") < 0.9 * waits("csr"));
}

TEST_CASE("few chunks, or few long rows, are hard to deal to many threads")
{
    spmv::Caches const caches{32 << 10, 1 << 20, 32 << 20};
    auto const imbalance_of = [&](sparse::Pattern<> const& pattern, std::string_view format,
                                  int threads) {
        auto const a = filled<float>(pattern);
        auto const processor = spmv::processor("intel", "avx512_gather", caches);
        auto const found = spmv::estimate_formats<float>(a, processor, {threads, false, format});
        REQUIRE(!found.empty());
        CHECK(found.front().imbalance >= 1);
        return found.front().imbalance;
    };
    auto const few = sparse::random_rows(40, 9000, 3000, 1); // three chunks of 16 rows
    CHECK(imbalance_of(few, "sell_unit", 1) == 1);
    CHECK(imbalance_of(few, "sell_unit", 16) > 4);
    auto const uncut = sparse::random_rows(20, 9000, 900, 1); // no row is long enough to be cut
    CHECK(imbalance_of(uncut, "csr", 16) > 1.4);
    CHECK(imbalance_of(uncut, "csr", 4) < 1.1);
    CHECK(imbalance_of(sparse::poisson2d(200), "sell_unit", 16) < 1.05);
}

namespace {

/// The format of slices that the model takes for many multiplies on one thread.
template <class T>
std::string_view best_sell(sparse::Pattern<> const& pattern, std::string_view vendor,
                           std::string_view kernels)
{
    auto const a = filled<T>(pattern);
    auto const processor = spmv::processor(vendor, kernels, {48 << 10, 2 << 20, 300 << 20});
    auto estimates = spmv::estimate_formats<T>(a, processor, {});
    std::erase_if(estimates, [](auto const& e) { return !e.format.starts_with("sell"); });
    return spmv::best_estimate(estimates, 1e6).format;
}

} // namespace

TEST_CASE("wide columns are for gathers of 16 elements, and for what a core's cache holds")
{
    auto const small = sparse::random_rows(7000, 7000, 8, 1);
    auto const large = sparse::random_rows(60'000, 60'000, 30, 1);
    CHECK(best_sell<float>(small, "intel", "avx512_gather") == "sell32");
    CHECK(best_sell<float>(large, "intel", "avx512_gather") == "sell_unit");
    CHECK(best_sell<double>(small, "intel", "avx512_gather") == "sell_unit");
    CHECK(best_sell<float>(small, "amd", "avx512") == "sell_unit");
    auto const a = filled<float>(small);
    auto const amd = spmv::processor("amd", "avx512", {48 << 10, 1 << 20, 32 << 20});
    auto const estimates = spmv::estimate_formats<float>(a, amd, {});
    CHECK(std::ranges::find(estimates, "sell32", &spmv::Estimate::format) == estimates.end());
    CHECK(best_sell<float>(sparse::poisson2d(80), "intel", "avx512_gather") == "sell_unit");
}

TEST_CASE("runs longer than a packed piece are one piece of CSRL")
{
    sparse::Pattern<> pattern; // rows of one run of 100 columns
    pattern.rows = 300;
    pattern.columns = 1000;
    for (std::int32_t i = 0; i < pattern.rows; ++i) {
        for (std::int32_t k = 0; k < 100; ++k) {
            pattern.col.push_back(3 * i + k);
        }
        pattern.row_ptr.push_back(static_cast<std::int32_t>(pattern.col.size()));
    }
    auto const a = filled<double>(pattern);
    auto const processor = spmv::processor("amd", "avx512", {48 << 10, 1 << 20, 32 << 20});
    auto const estimates = spmv::estimate_formats<double>(a, processor, {});
    auto const pieces = [&](std::string_view format) {
        auto const found = std::ranges::find(estimates, format, &spmv::Estimate::format);
        REQUIRE(found != estimates.end());
        auto const term = std::ranges::find(found->core, "packed_csrl.piece", &spmv::Term::name);
        return term->count;
    };
    CHECK(pieces("csrl") == 300);
    CHECK(pieces("packed_csrl") == 4 * 300);
}

TEST_CASE("pieces of long rows are stored by runs where that is faster")
{
    spmv::Caches const caches{32 << 10, 1 << 20, 32 << 20};
    auto const in_runs = [&](std::int32_t step, std::string_view kernels) {
        sparse::Pattern<> pattern; // rows of five, and one long row in runs of 6 or without any
        pattern.columns = 60'000;
        for (std::int32_t i = 0; i < 2000; ++i) {
            for (std::int32_t k = 0; k < (i == 7 ? 24'000 : 5); ++k) {
                pattern.col.push_back(i == 7 ? k / step * (step + 2) + k % step : 11 * k);
            }
            pattern.row_ptr.push_back(static_cast<std::int32_t>(pattern.col.size()));
        }
        pattern.rows = 2000;
        auto const a = filled<double>(pattern);
        auto const processor = spmv::processor("intel", kernels, caches);
        auto const found = spmv::estimate_formats<double>(a, processor, {1, false, "sell_unit"});
        REQUIRE(!found.empty());
        CHECK(found.front().build.longest_row < 24'000);
        return found.front().build.pieces_in_runs;
    };
    for (auto const* kernels : {"avx512", "avx512_gather"}) {
        CAPTURE(kernels);
        CHECK(in_runs(1000, kernels));
        CHECK(!in_runs(1, kernels));
    }
    CHECK(!in_runs(5, "avx512_gather")); // a gather takes more than five at once
}
