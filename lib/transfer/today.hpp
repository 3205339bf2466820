#pragma once

#include "cuda/stream.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

// What the runtime has had for some years only, and what a device may lack.

namespace transfer {

/// Why the current device has no managed memory that moves page by page; empty if it has.
std::string missing_managed();

/// Why memory cannot be allocated in the order of a stream here; empty if it can.
std::string missing_pools();

/// Why several copies cannot be handed over in one call here; empty if they can.
std::string missing_batches();

/// Memory that host and device find at one address, in pages that move to who touches them.
class Managed
{
public:
    /// Elements without a value. Throws `cuda::Error` if there is not enough memory,
    /// std::invalid_argument if there cannot be.
    explicit Managed(std::size_t elements);

    std::span<float> span() const { return {data_.get(), size_}; }

    /// Brings all pages to the device or back, in the order of a stream.
    void bring_to_device(cuda::Stream const& stream) const;
    void bring_to_host(cuda::Stream const& stream) const;

private:
    struct Free
    {
        void operator()(float* data) const;
    };

    std::unique_ptr<float, Free> data_;
    std::size_t size_;
};

/// Memory from the device's pool, in the order of a stream; and back.
void* allocate_in(cuda::Stream const& stream, std::size_t bytes);
void release_in(cuda::Stream const& stream, void* memory);

/// Pieces of equal size, from places on the host to places on the device, in one call.
struct Batch
{
    std::vector<void const*> from;
    std::vector<void*> to;
    std::vector<std::size_t> bytes;
};
void copy_batch(Batch& batch, cuda::Stream const& stream);

} // namespace transfer
