#include "cuda/buffer.hpp"

#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

namespace cuda {

void* allocate(std::size_t bytes)
{
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    return memory;
}

void release(void* memory)
{
    static_cast<void>(
        cudaFree(memory)); // what went wrong before was told by the call that found it
}

void copy_to_device(void* device, void const* host, std::size_t bytes)
{
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void copy_to_host(void* host, void const* device, std::size_t bytes)
{
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

} // namespace cuda
