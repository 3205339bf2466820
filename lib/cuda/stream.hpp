#pragma once

#include "cuda/handles.hpp"

#include <memory>

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
    void wait_for(Event const& event) const;

    /// Waits until all work is done. Throws `Error` if some of it failed.
    void synchronize() const;

private:
    struct Destroy
    {
        void operator()(cudaStream_t stream) const;
    };

    std::unique_ptr<CUstream_st, Destroy> stream_;
};

} // namespace cuda
