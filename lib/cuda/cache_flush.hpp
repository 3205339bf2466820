#pragma once

#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"

#include <cstddef>
#include <cstdint>

namespace cuda {

/// Evicts everything from the caches of the current device by reading four times its last-level
/// cache. It only reads, so that no write-back of its own lines is left to the timed call.
class CacheFlush
{
public:
    /// `stream` must outlive it.
    explicit CacheFlush(Stream const& stream);

    /// Puts the flush into the stream and returns at once: what is issued next is waiting when the
    /// flush ends, so that it starts without a gap.
    void operator()();

private:
    Stream const* stream_;
    Buffer<std::uint64_t> words_;
};

} // namespace cuda
