#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace cuda {

class Event;

/// A queue of work for the current device. Copies of `Buffer` wait for all its work, and its later
/// work for them.
class Stream
{
public:
    Stream();

    /// For `<<<blocks, threads, bytes, stream.get()>>>`.
    cudaStream_t get() const { return stream_.get(); }

    /// Later work waits until another stream gets to `event`.
    void wait_for(Event const& event);

    /// Waits until all work is done. Throws `Error` if some of it failed.
    void synchronize() const;

private:
    struct Destroy
    {
        void operator()(cudaStream_t stream) const { static_cast<void>(cudaStreamDestroy(stream)); }
    };

    std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
};

} // namespace cuda
