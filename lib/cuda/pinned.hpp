#pragma once

#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>

namespace cuda {

/// An array of `size` elements on the host that the device copies without help of the processor.
template <class T>
class Pinned
{
public:
    /// An array without a value. Throws `Error` if the system cannot lock so much memory.
    explicit Pinned(std::size_t size) : data_{allocate(size)}, size_{size} {}

    std::span<T> span() { return {data_.get(), size_}; }
    std::span<T const> span() const { return {data_.get(), size_}; }

private:
    struct Free
    {
        void operator()(T* data) const { static_cast<void>(cudaFreeHost(data)); }
    };

    static T* allocate(std::size_t size)
    {
        void* data = nullptr;
        check(cudaMallocHost(&data, size * sizeof(T)));
        return static_cast<T*>(data);
    }

    std::unique_ptr<T, Free> data_;
    std::size_t size_;
};

} // namespace cuda
