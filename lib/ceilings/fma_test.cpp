#include "ceilings/fma.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

template <class T>
std::vector<T> starts()
{
    std::vector<T> start(ceilings::fma_elements<T>);
    for (std::size_t i = 0; i < start.size(); ++i) {
        start[i] = static_cast<T>(i) - 3;
    }
    return start;
}

} // namespace

TEST_CASE_TEMPLATE("every chain takes every step, exactly", T, float, double)
{
    auto const start = starts<T>();
    for (auto const& set : ceilings::instruction_sets<T>()) {
        CAPTURE(std::string{set.name});
        for (auto const kernel : {set.fma_chains, set.fma_one_chain}) {
            for (std::size_t const steps : {0, 1, 2, 1000}) {
                std::vector<T> sum(start.size(), T{-77});
                kernel(start.data(), T{3}, T{-2}, steps, sum.data());
                for (std::size_t i = 0; i < sum.size(); ++i) {
                    REQUIRE(sum[i] == start[i] - T{6} * static_cast<T>(steps));
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("a variant is there or says what is missing", T, float, double)
{
    auto const variants = ceilings::fma_variants<T>();
    std::size_t there = 0;
    for (auto const& variant : variants) {
        CAPTURE(variant.name);
        CHECK(variant.missing.empty() == (variant.kernel != nullptr));
        there += variant.kernel != nullptr ? 1 : 0;
    }
    CHECK((variants.front().kernel == ceilings::widest<T>().fma_one_chain));
    CHECK(there == 1 + ceilings::instruction_sets<T>().size());
}

TEST_CASE_TEMPLATE("every thread does the whole work", T, float, double)
{
    auto const start = starts<T>();
    for (int threads = 1; threads <= 4; ++threads) {
        CAPTURE(threads);
        std::vector<T> sum(start.size() * static_cast<std::size_t>(threads), T{-77});
        ceilings::run_fma<T>(ceilings::widest<T>().fma_chains, start, T{3}, T{3}, sum, threads);
        for (std::size_t i = 0; i < sum.size(); ++i) {
            REQUIRE(sum[i] == start[i % start.size()] + T{9} * ceilings::fma_steps);
        }
        CHECK(ceilings::fma_flops<T>(threads) == 2.0 * ceilings::fma_steps * sum.size());
    }
}
