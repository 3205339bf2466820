#pragma once

#include <cstddef>

namespace ceilings {

/// Bytes of all caches of the last level together, or 64 MiB where the machine does not tell.
std::size_t last_level_cache_bytes();

} // namespace ceilings
