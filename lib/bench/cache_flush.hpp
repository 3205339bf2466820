#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Evicts everything from the caches of this process' threads, and leaves no write-back to the call
/// that is timed next.
///
/// Either it throws every line of this process' memory out of all caches, for which x86 has had an
/// instruction since 2015, or it reads twice the last-level cache: whichever has fewer bytes to go
/// through. A small cache is soon read. A large one often keeps some of what it holds, for it does
/// not replace its oldest lines; and reading hundreds of MiB takes longer than most calls.
class CacheFlush
{
public:
    explicit CacheFlush(std::size_t last_level_cache_bytes) : bytes_{2 * last_level_cache_bytes} {}

    void operator()();

private:
    void read();

    std::size_t bytes_; ///< to be read
    std::vector<std::uint64_t> words_;
};

} // namespace bench
