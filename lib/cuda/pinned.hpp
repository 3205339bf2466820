#pragma once

#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>

namespace cuda {

/// An array of `size` elements on the host in locked pages, which the device copies without help of
/// the processor.
template <class T>
class Pinned
{
public:
    /// An array without a value, with flags of cudaHostAlloc. Throws `Error` if the system cannot
    /// lock so much memory.
    explicit Pinned(std::size_t size, unsigned flags = cudaHostAllocDefault)
        : data_{nullptr, cudaFreeHost}, size_{size}
    {
        void* data = nullptr;
        check(cudaHostAlloc(&data, size * sizeof(T), flags));
        data_.reset(static_cast<T*>(data));
    }

    std::span<T> span() { return {data_.get(), size_}; }
    std::span<T const> span() const { return {data_.get(), size_}; }

    /// Where kernels find the elements, which they read and write over the bus. Throws `Error` if
    /// the device cannot.
    T* on_device() const
    {
        void* device = nullptr;
        check(cudaHostGetDevicePointer(&device, data_.get(), 0));
        return static_cast<T*>(device);
    }

private:
    std::unique_ptr<T, decltype(&cudaFreeHost)> data_;
    std::size_t size_;
};

/// Locks the pages of memory that somebody else owns and that outlives this.
class Registered
{
public:
    /// Of nothing there are no pages. Throws `Error` if the system cannot lock so much memory, if
    /// some of it is locked already, or if there is no memory.
    explicit Registered(std::span<std::byte> memory)
    {
        if (!memory.empty()) {
            check(cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault));
            pages_.reset(memory.data(), cudaHostUnregister);
        }
    }

private:
    std::shared_ptr<void> pages_;
};

} // namespace cuda
