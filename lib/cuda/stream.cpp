#include "cuda/stream.hpp"

#include "cuda/error.hpp"
#include "cuda/event.hpp"

namespace cuda {

Stream::Stream()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    stream_.reset(stream);
}

void Stream::wait_for(Event const& event)
{
    check(cudaStreamWaitEvent(get(), event.get(), 0));
}

void Stream::synchronize() const
{
    check(cudaStreamSynchronize(get()));
}

} // namespace cuda
