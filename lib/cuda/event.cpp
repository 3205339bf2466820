#include "cuda/event.hpp"

#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

namespace cuda {

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
