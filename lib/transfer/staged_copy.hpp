#pragma once

#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace transfer {

/// How `StagedCopy` works.
struct StagedCopyOptions
{
    int threads = 0;                                  ///< 0: as many as OpenMP would use
    std::size_t chunk_bytes = std::size_t{512} << 10; ///< of a buffer in locked pages
    std::size_t chunks = 4;                           ///< buffers of each thread
};

namespace detail {

/// What `transfer::StagedCopy` does once it knows that its arguments can be.
class StagedCopy
{
public:
    explicit StagedCopy(StagedCopyOptions const& options = {});

    void to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream);
    void to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream);

private:
    /// A buffer, and a mark behind the device's last copy from or to it.
    struct Chunk
    {
        explicit Chunk(std::size_t bytes) : memory{bytes} {}

        cuda::Pinned<std::byte> memory;
        cuda::Event copied;
    };

    /// Calls `work(buffers, first byte)` on each thread; throws again what the first one threw.
    template <class Work>
    void on_threads(Work const& work);

    int device_;
    int threads_;
    std::size_t chunk_bytes_;
    std::size_t stride_; ///< from a thread's chunk to its next one
    std::vector<Chunk> chunks_;
};

} // namespace detail

/// Copies pageable memory faster than the runtime: each thread moves chunks of its own into or out
/// of its buffers in locked pages, while the device copies others. No thread waits for another. The
/// runtime's own copy does the same with one thread. One call at a time.
class StagedCopy
{
public:
    /// For the device that is current. Throws std::invalid_argument if a chunk has no bytes or
    /// there are none, for fewer than 0 threads, and if no memory has so many bytes; `cuda::Error`
    /// if the buffers cannot be locked.
    explicit StagedCopy(StagedCopyOptions const& options = {});

    /// Behind the work of `stream`. Returns when `host` was read; the device may still copy. Throws
    /// std::invalid_argument, as below, for bytes at a null pointer, and if the places overlap, as
    /// managed memory can; `cuda::Error` if the device does not copy.
    void to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream);

    /// Behind the work of `stream`. Returns when `host` was written.
    void to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream);

private:
    detail::StagedCopy copy_;
};

} // namespace transfer
