#include "dense/gpu/gemm_wgmma.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

// Choosing needs no GPU: what an H200 answers stands here.

namespace {

int clusters_of_h200(int blocks)
{
    constexpr int at_once[]{0, 132, 66, 39, 30, 22, 17, 16, 15};
    return at_once[blocks];
}

dense::gpu::WgmmaProblem product(std::int64_t m, std::int64_t n, std::int64_t k)
{
    return {m, n, k, 128, 128, clusters_of_h200};
}

} // namespace

TEST_CASE("every plan makes all tiles once, and has a cluster for each that is left over")
{
    std::mt19937_64 random{1};
    std::uniform_real_distribution<double> exponent{0, 13};
    auto const size = [&] { return static_cast<std::int64_t>(std::exp2(exponent(random))); };
    for (int draw = 0; draw < 300; ++draw) {
        auto const problem = product(size(), size(), size());
        for (auto const& plan : dense::gpu::wgmma_plans(problem)) {
            CAPTURE(plan.text());
            CAPTURE(problem.rows);
            CAPTURE(problem.columns);
            CAPTURE(problem.depth);
            auto const made = dense::gpu::schedule(plan, problem);
            std::int64_t const shared = plan.shared();
            CHECK((shared == 1 || shared == plan.cluster));
            CHECK(made.whole >= 0);
            CHECK(made.whole <= made.units);
            CHECK(made.units * shared * plan.rows * plan.columns >= problem.rows * problem.columns);
            CHECK(made.blocks > 0);
            CHECK(made.blocks % plan.cluster == 0);
            CHECK(made.blocks / plan.cluster >= (made.units - made.whole) * shared);
            if (made.whole > 0) {
                CHECK(made.blocks >= std::min(made.whole, made.at_once) * shared);
            }
            if (plan.cluster == 1) {
                CHECK(made.whole == made.units);
            }
            CHECK(plan.microseconds > 0);
            CHECK(!plan.copies_b); // all rows begin at lines
        }
    }
}

TEST_CASE("plans come in the order in which they are expected to be fast")
{
    auto const plans = dense::gpu::wgmma_plans(product(1000, 2000, 3000));
    CHECK(plans.size() > 10);
    CHECK(std::ranges::is_sorted(plans, {}, &dense::gpu::WgmmaPlan::microseconds));
}

TEST_CASE("large products take large tiles, few tiles split their depth")
{
    auto const first = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return dense::gpu::wgmma_plans(product(m, n, k)).front();
    };
    CHECK(first(8192, 8192, 8192).columns >= 192);
    CHECK(first(64, 64, 65536).cluster > 1);
    CHECK(first(1, 1, 1).rows == 64);
}

TEST_CASE("threads copy b where few columns lie across lines, in tiles of 64 columns at most")
{
    auto const of_columns = [](std::int64_t n, int alignment_b) {
        auto problem = product(7208, n, 1648);
        problem.alignment_b = alignment_b;
        return dense::gpu::wgmma_plans(problem);
    };
    CHECK(of_columns(8, 16).front().copies_b);
    CHECK(of_columns(8, 16).front().text() == "tiles of 64 x 32, b copied by threads");
    for (auto const& plan : of_columns(40, 16)) {
        CHECK((!plan.copies_b || plan.columns <= 64));
    }
    auto const none_copies = [](auto const& plans) {
        return std::ranges::none_of(plans, &dense::gpu::WgmmaPlan::copies_b);
    };
    CHECK(none_copies(of_columns(8, 128)));
    CHECK(none_copies(of_columns(72, 16)));
}

TEST_CASE("rows below the matrix are not waited for")
{
    auto problem = product(128, 8064, 2304);
    auto const time = [&](std::int64_t rows) {
        problem.rows = rows;
        auto const plans = dense::gpu::wgmma_plans(problem);
        return std::ranges::find_if(plans,
                                    [](auto const& plan) {
                                        return plan.rows == 128 && plan.columns == 128 &&
                                               plan.cluster == 1;
                                    })
            ->microseconds;
    };
    problem.alignment_a = problem.alignment_b = 16;
    CHECK(time(8) < time(128));
    CHECK(time(125) == time(128));
}
