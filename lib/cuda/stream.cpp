#include "cuda/stream.hpp"

#include "cuda/error.hpp"
#include "cuda/event.hpp"

#include <cuda_runtime_api.h>

namespace cuda {

Stream::Stream()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    stream_.reset(stream);
}

void Stream::wait_for(Event const& event) const
{
    check(cudaStreamWaitEvent(get(), event.get(), 0));
}

void Stream::Destroy::operator()(cudaStream_t stream) const
{
    static_cast<void>(cudaStreamDestroy(stream));
}

void Stream::synchronize() const
{
    check(cudaStreamSynchronize(get()));
}

} // namespace cuda
