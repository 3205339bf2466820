#include "transfer/today.hpp"

#include "base/bytes.hpp"
#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

namespace transfer {

namespace {

int device()
{
    int current = 0;
    cuda::check(cudaGetDevice(&current));
    return current;
}

bool has(cudaDeviceAttr attribute)
{
    int value = 0;
    cuda::check(cudaDeviceGetAttribute(&value, attribute, device()));
    return value != 0;
}

} // namespace

std::string missing_managed()
{
    return has(cudaDevAttrConcurrentManagedAccess)
               ? ""
               : "the device cannot move managed memory page by page";
}

std::string missing_pools()
{
    return has(cudaDevAttrMemoryPoolsSupported) ? "" : "the device has no memory pools";
}

Managed::Managed(std::size_t elements) : size_{elements}
{
    void* data = nullptr;
    auto const bytes = base::bytes_of("transfer::Managed", elements, sizeof(float));
    cuda::check(cudaMallocManaged(&data, bytes));
    data_.reset(static_cast<float*>(data));
}

void Managed::Free::operator()(float* data) const
{
    static_cast<void>(cudaFree(data));
}

void* allocate_in(cuda::Stream const& stream, std::size_t bytes)
{
    void* memory = nullptr;
    cuda::check(cudaMallocAsync(&memory, bytes, stream.get()));
    return memory;
}

void release_in(cuda::Stream const& stream, void* memory)
{
    cuda::check(cudaFreeAsync(memory, stream.get()));
}

#if CUDART_VERSION >= 13000

std::string missing_batches()
{
    return {};
}

void Managed::bring_to_device(cuda::Stream const& stream) const
{
    cuda::check(cudaMemPrefetchAsync(data_.get(), size_ * sizeof(float),
                                     {cudaMemLocationTypeDevice, device()}, 0, stream.get()));
}

void Managed::bring_to_host(cuda::Stream const& stream) const
{
    cuda::check(cudaMemPrefetchAsync(data_.get(), size_ * sizeof(float),
                                     {cudaMemLocationTypeHost, 0}, 0, stream.get()));
}

//! [batched]
void copy_batch(Batch& batch, cuda::Stream const& stream)
{
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0; // all copies have these attributes
    cuda::check(cudaMemcpyBatchAsync(batch.to.data(), batch.from.data(), batch.bytes.data(),
                                     batch.to.size(), &attributes, &first, 1, stream.get()));
}
//! [batched]

#else

std::string missing_batches()
{
    return "the runtime is older than 13.0";
}

void Managed::bring_to_device(cuda::Stream const& stream) const
{
    cuda::check(cudaMemPrefetchAsync(data_.get(), size_ * sizeof(float), device(), stream.get()));
}

void Managed::bring_to_host(cuda::Stream const& stream) const
{
    cuda::check(
        cudaMemPrefetchAsync(data_.get(), size_ * sizeof(float), cudaCpuDeviceId, stream.get()));
}

void copy_batch(Batch&, cuda::Stream const&)
{
    cuda::check(cudaErrorNotSupported);
}

#endif

} // namespace transfer
