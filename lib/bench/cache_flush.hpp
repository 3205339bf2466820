#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Evicts everything from the caches of this process' threads by reading twice the last-level
/// cache. It only reads, so that no write-back of its own lines is left to the timed call.
class CacheFlush
{
public:
    explicit CacheFlush(std::size_t last_level_cache_bytes);

    void operator()();

private:
    std::vector<std::uint64_t> words_;
};

} // namespace bench
