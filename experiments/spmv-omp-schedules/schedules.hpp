#pragma once

#include "experiments/spmv_peers.hpp"

#include "machine/topology.hpp"
#include "spmv/steps/openmp.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Variants that differ in one number, and those that need memory of their own.
namespace schedules {

/// Numbers of rows that a thread takes at once.
inline constexpr int chunks[] = {1, 16, 256, 4096};

/// With so few rows at most, a trial is about lines of `y` that threads share.
inline constexpr std::int32_t few_rows = 64;

/// Adds `rows`, which chooses its own chunks, and `chunked` with each length of chunk.
template <class T, class Rows, class Chunked>
void add_family(bench::Trial& trial, Problem<T>& problem, std::string const& name, Rows rows,
                Chunked chunked)
{
    int const threads = trial.threads();
    auto const x = problem.x.on();
    auto const y = problem.y.on();
    auto const call = [=, &problem] { rows(problem.a, x, y, threads); };
    trial.add(name, call).excerpt(name + "_rows").group(name);
    for (int const chunk : chunks) {
        auto const chunked_call = [=, &problem] { chunked(problem.a, x, y, threads, chunk); };
        trial.add(name + "_" + std::to_string(chunk), chunked_call)
            .excerpt(name + "_chunks")
            .group(name);
    }
}

/// A matrix whose pages lie next to the threads that read them, where there is a difference.
template <class T>
void add_first_touch(bench::Trial& trial, Problem<T>& problem)
{
    int const threads = trial.threads();
    if (machine::topology().numa_nodes == 1) {
        trial.skip("first_touch", "one NUMA node: all memory is equally near").group("placed");
        return;
    }
    auto const place = [=, &problem](bench::Variant& variant) {
        return [=, x = problem.x.on(), y = problem.y.on(),
                near = variant.keep(spmv::first_touched<T>(problem.a, threads))] {
            spmv::static_rows<T>(*near, x, y, threads);
        };
    };
    trial.add("first_touch", place).group("placed");
}

/// Sums that lie side by side in memory, and sums apart: one loop, two distances.
template <class T>
void add_false_sharing(bench::Trial& trial, Problem<T>& problem)
{
    auto const add = [&](std::string const& name, std::size_t stride) {
        auto const call = [&problem, stride, threads = trial.threads(), x = problem.x.on(),
                           y = problem.y.on(),
                           sums = std::vector<T>(stride * problem.y.size())]() mutable {
            spmv::sums_in_memory<T>(problem.a, x, y, threads, sums, stride);
        };
        trial.add(name, call).excerpt("sums_in_memory").group("sharing");
    };
    add("side_by_side", 1);
    add("apart", spmv::apart<T>);
}

} // namespace schedules
