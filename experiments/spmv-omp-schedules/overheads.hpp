#pragma once

#include "bench/trial.hpp"
#include "ceilings/openmp_cost.hpp"
#include "ceilings/reference.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What a loop on several threads costs before it does anything.
namespace overheads {

/// Iterations that were counted.
using Counts = std::vector<std::uint64_t>;

//! [empty_static]
inline Counts empty_static(int threads, std::int64_t rows)
{
    std::uint64_t counted = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : counted)
    for (std::int64_t i = 0; i < rows; ++i) {
        ++counted;
    }
    return {counted};
}
//! [empty_static]

//! [empty_dynamic]
inline Counts empty_dynamic(int threads, std::int64_t rows)
{
    std::uint64_t counted = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : counted)
    for (std::int64_t i = 0; i < rows; ++i) {
        ++counted;
    }
    return {counted};
}
//! [empty_dynamic]

/// Rows of matrices that the other study multiplies: of the smallest, and of the shortest rows.
inline bench::AxisValues rows()
{
    using Rows = std::int64_t;
    bench::AxisValues values;
    values.tiny = {Rows{20'164}};
    values.quick = {Rows{20'164}, Rows{650'000}};
    values.full = {Rows{20'164}, Rows{5'000'000}};
    return values;
}

/// A parallel region that is opened and left, one with a barrier in it, and loops that only count
/// the rows: in fixed shares, and dealt out one by one.
inline void measure(bench::Trial& trial)
{
    int const threads = trial.threads();
    auto const rows = trial.integer("rows");
    auto const most = static_cast<double>(rows);
    trial.work({.operations = most});
    trial.cache(bench::Cache::warm);
    auto const add = [&](std::string name, int counters, double wanted, auto count) {
        auto const size = static_cast<std::size_t>(counters);
        trial
            .add(std::move(name),
                 [=](bench::Variant& variant) {
                     auto const counts = variant.output<double>(size);
                     counts.expect([=] { return ceilings::counted(size, wanted); });
                     return [=, out = counts.on()] { std::ranges::copy(count(), out.begin()); };
                 })
            .group("overhead");
    };
    add("parallel_region", threads, 1, [=] { return ceilings::parallel_regions(threads, 1); });
    add("barrier", threads, 1, [=] { return ceilings::barriers(threads, 1); });
    add("empty_static", 1, most, [=] { return empty_static(threads, rows); });
    add("empty_dynamic", 1, most, [=] { return empty_dynamic(threads, rows); });
    trial.run();
}

} // namespace overheads
