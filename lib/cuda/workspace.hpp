#pragma once

#include "cuda/stream.hpp"

#include <cstddef>
#include <memory>

namespace cuda {

/// Memory of the current device for some work of a stream, from the device's pool: it is there for
/// what is put into the stream afterwards, and goes back behind what was put into it before the
/// end. Neither waits for the device, and both can be captured in a graph. How much the pool keeps
/// when nobody uses it, its release threshold says (`cudaMemPoolSetAttribute`).
class Workspace
{
public:
    /// Memory without a value, at a multiple of 256 bytes; none for no bytes. Throws `Error` if the
    /// device has not enough, or no pool.
    Workspace(::std::size_t bytes, Stream const& stream);

    ::std::byte* data() const { return data_.get(); }

private:
    ::std::shared_ptr<::std::byte> data_;
};

} // namespace cuda
