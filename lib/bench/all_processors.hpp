#pragma once

#include <omp.h>

#include <cstddef>

namespace bench {

/// Threads for work on `elements` elements that is never timed: all processors that this process
/// may use, whatever the number of threads that it measures; one, if there is little to do.
inline int all_processors(std::size_t elements)
{
    constexpr std::size_t few = 1 << 16;
    return elements > few ? omp_get_num_procs() : 1;
}

} // namespace bench
