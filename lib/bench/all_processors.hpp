#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace bench {

/// Calls `body(part)` for all parts below `parts`, this thread and as many others as there are
/// parts at the same time. The others sleep between calls; OpenMP's would go on spinning beside
/// what is timed next. Called by one of them, or beside another call, it does all parts itself.
/// `body` must not throw.
void on_helpers(std::size_t parts, std::function<void(std::size_t part)> const& body);

/// Calls `body(begin, end)` for ranges that together are 0 to `count`, at the same time on all
/// processors that this process may use, whatever the number of threads that it measures; on one,
/// if there is little to do. `body` must not throw.
template <class Body>
void on_all_processors(std::size_t count, Body const& body)
{
    constexpr std::size_t few = 1 << 16; // elements
    auto const processors = static_cast<std::size_t>(omp_get_num_procs());
    auto const parts = std::clamp<std::size_t>(count / few, 1, processors);
    on_helpers(parts,
               [&](std::size_t part) { body(count * part / parts, count * (part + 1) / parts); });
}

} // namespace bench
