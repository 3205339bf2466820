#include "cuda/stream.hpp"

#include "cuda/error.hpp"

namespace cuda {

Stream::Stream()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    stream_.reset(stream);
}

void Stream::synchronize() const
{
    check(cudaStreamSynchronize(get()));
}

} // namespace cuda
