#include "cuda/stream.hpp"

#include "cuda/error.hpp"

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

Event::Event()
{
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    event_.reset(event);
}

void Event::Destroy::operator()(cudaEvent_t event) const
{
    static_cast<void>(cudaEventDestroy(event));
}

void Event::record(Stream const& stream)
{
    check(cudaEventRecord(get(), stream.get()));
}

void Event::record_in_graph(Stream const& stream)
{
    check(cudaEventRecordWithFlags(get(), stream.get(), cudaEventRecordExternal));
}

void Event::synchronize() const
{
    check(cudaEventSynchronize(get()));
}

double Event::seconds_since(Event const& start) const
{
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), get()));
    return 1e-3 * static_cast<double>(milliseconds);
}

} // namespace cuda
