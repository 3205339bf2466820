#pragma once

#include "base/bytes.hpp"
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
    /// An array without a value, with flags of cudaHostAlloc; of no elements it has no memory.
    /// Throws `Error` if the system cannot lock so much memory, std::invalid_argument if none can.
    explicit Pinned(::std::size_t size, unsigned flags = cudaHostAllocDefault)
        : data_{nullptr, cudaFreeHost}, size_{size}
    {
        auto const bytes = base::bytes_of("cuda::Pinned", size, sizeof(T));
        if (bytes > 0) {
            void* data = nullptr;
            check(cudaHostAlloc(&data, bytes, flags));
            data_.reset(static_cast<T*>(data));
        }
    }

    ::std::span<T> span() { return {data_.get(), size_}; }
    ::std::span<T const> span() const { return {data_.get(), size_}; }

    /// Where kernels find the elements, which they read and write over the bus; a null pointer if
    /// there are none. Throws `Error` if the device cannot.
    T* on_device() const
    {
        void* device = nullptr;
        if (size_ > 0) {
            check(cudaHostGetDevicePointer(&device, data_.get(), 0));
        }
        return static_cast<T*>(device);
    }

private:
    ::std::unique_ptr<T, decltype(&cudaFreeHost)> data_;
    ::std::size_t size_;
};

/// Locks the pages of memory that somebody else owns and that outlives this.
class Registered
{
public:
    /// Of memory that is read or written; of nothing there are no pages. Throws `Error` if the
    /// system cannot lock so much memory, if some of it is locked already, or if there is no
    /// memory; std::invalid_argument for a null pointer to bytes, and more than there can be.
    explicit Registered(::std::span<::std::byte const> memory)
    {
        base::require_memory("cuda::Registered", memory.data(), memory.size());
        if (!memory.empty()) {
            auto* const pages = const_cast<::std::byte*>(memory.data()); // what they hold stays
            check(cudaHostRegister(pages, memory.size(), cudaHostRegisterDefault));
            pages_.reset(pages, cudaHostUnregister);
        }
    }

private:
    ::std::shared_ptr<void> pages_;
};

} // namespace cuda
