#pragma once

#include "cuda/pinned.hpp"
#include "cuda/stream.hpp"

#include <atomic>
#include <cstddef>
#include <vector>

namespace transfer {

/// How threads write.
enum class Stores
{
    by_size,     ///< as `StagedCopy` says
    cached,      ///< as `std::memcpy`: what was written is in the cache of the core that wrote it
    past_caches, ///< streaming stores
};

/// How `StagedCopy` works.
struct StagedCopyOptions
{
    int threads = 0;                                ///< 0: as many as OpenMP would use
    std::size_t chunk_bytes = std::size_t{8} << 20; ///< that the device copies at once, at most
    std::size_t chunks = 4;                         ///< that fit into the buffer in locked pages
    Stores stores = Stores::by_size;
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
    /// Where a chunk stands in the buffer.
    struct Place
    {
        cuda::Event copied;                    ///< behind the device's last copy from or to it
        std::atomic<std::size_t> asked{};      ///< for which chunk the device copied, or copies
        std::atomic<std::size_t> free{};       ///< which chunk threads may copy
        std::atomic<std::size_t> parts_left{}; ///< of it
    };

    /// How the bytes of a call are cut: into chunks, and each of these into parts.
    struct Cut
    {
        std::size_t bytes;
        std::size_t chunk_bytes;
        std::size_t parts;       ///< of a chunk
        std::size_t places;      ///< of the buffer
        std::size_t first_place; ///< of chunk 0

        std::size_t chunks() const { return (bytes + chunk_bytes - 1) / chunk_bytes; }
        std::size_t bytes_of(std::size_t chunk) const;
        std::size_t place_of(std::size_t chunk) const { return (first_place + chunk) % places; }
    };

    /// Cuts a call, once the device has read what the call before left in the buffer.
    Cut cut(std::size_t bytes);

    std::byte* buffer_of(Cut const& cut, std::size_t chunk);

    /// Calls `part(in the buffer, first byte, bytes)` on threads, for all parts in order, each when
    /// the device has copied from or to its place; behind the last part of each chunk
    /// `whole(chunk)`. Throws again what one of them threw.
    template <class Part, class Whole>
    void on_threads(Cut const& cut, Part const& part, Whole const& whole);

    /// What each thread does of that, until there is nothing left or `failed`.
    template <class Part, class Whole>
    void take_parts(Cut const& cut, std::atomic<std::size_t>& next, std::atomic<bool> const& failed,
                    Part const& part, Whole const& whole);

    int device_;
    int threads_;
    std::size_t chunk_bytes_;
    std::size_t buffer_bytes_;
    Stores stores_;
    cuda::Pinned<std::byte> buffer_;
    std::vector<Place> places_;
    std::size_t next_byte_ = 0; ///< of the buffer: the oldest one
    cuda::Event read_;          ///< behind the last copy to the device
};

} // namespace detail

/// Copies pageable memory faster than the runtime. Threads copy parts of a chunk into or out of a
/// buffer in locked pages, and whoever copies its last part tells the device, which copies a chunk
/// while threads copy others. The runtime's own copy does the same with one thread. One call at a
/// time.
///
/// A device copies more slowly what lies in the cache of a single core (study `engine` of
/// `transfer-modes`). So the buffer is larger than those caches and used in turns, also from call
/// to call. Into it threads write past the caches, but through them if they fill it more than
/// twice, and out of it always past them: that was fastest of what the study `staged` compares.
class StagedCopy
{
public:
    /// For the device that is current. Throws std::invalid_argument if a chunk has no bytes or
    /// there are none, for fewer than 0 threads, and if no memory has so many bytes; `cuda::Error`
    /// if the buffer cannot be locked.
    explicit StagedCopy(StagedCopyOptions const& options = {});

    /// Behind the work of `stream`. Returns when `host` was read; the device may still copy, for
    /// which the next call waits. Throws std::invalid_argument, as below, for bytes at a null
    /// pointer, and if the places overlap, as managed memory can; `cuda::Error` if the device does
    /// not copy.
    void to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream);

    /// Behind the work of `stream`. Returns when `host` was written.
    void to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream);

private:
    detail::StagedCopy copy_;
};

} // namespace transfer
