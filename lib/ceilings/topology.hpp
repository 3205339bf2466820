#pragma once

#include <cstddef>

namespace ceilings {

/// Bytes of all caches of the last level together, or 64 MiB where the machine does not tell.
std::size_t last_level_cache_bytes();

/// Memories that lie nearer to some cores than to others; 1 where the machine does not tell.
int numa_nodes();

} // namespace ceilings
