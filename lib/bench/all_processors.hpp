#pragma once

#include "bench/team.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace bench {

/// Calls `body(begin, end)` for ranges that together are 0 to `count`, at the same time on all
/// processors that this process may use, whatever the number of threads that it measures; on one,
/// if there is little to do. The threads end with the call: OpenMP's own would go on spinning
/// beside what is timed next. `body` must not throw.
template <class Body>
void on_all_processors(std::size_t count, Body const& body)
{
    constexpr std::size_t few = 1 << 16; // elements
    auto const processors = static_cast<std::size_t>(omp_get_num_procs());
    std::size_t const parts = std::clamp<std::size_t>(count / few, 1, processors);
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < parts; ++k) {
        others.emplace_back([&body, begin = count * k / parts, end = count * (k + 1) / parts] {
            leave_place();
            body(begin, end);
        });
    }
    body(std::size_t{0}, count / parts);
}

} // namespace bench
