#pragma once

#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace cuda {

/// An array of `size()` elements in the memory of the current device.
template <class T>
class Buffer
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    /// An array without a value. Throws `Error` if the device has not enough memory.
    explicit Buffer(std::size_t size) : data_{allocate(size)}, size_{size} {}

    /// A copy of an array on the host.
    explicit Buffer(std::span<T const> host) : Buffer{host.size()} { upload(host); }

    T* data() { return data_.get(); }
    T const* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    /// The elements, which only the device can read.
    std::span<T> span() { return {data(), size()}; }
    std::span<T const> span() const { return {data(), size()}; }

    /// Overwrites all elements with `host`, after all work of streams that was issued before.
    /// Throws std::invalid_argument if the sizes differ.
    void upload(std::span<T const> host)
    {
        if (host.size() != size_) {
            throw std::invalid_argument{"cuda::Buffer::upload: the sizes differ"};
        }
        check(cudaMemcpy(data(), host.data(), bytes(), cudaMemcpyHostToDevice));
    }

    /// The elements, after all work of streams that was issued before.
    std::vector<T> download() const
    {
        std::vector<T> host(size_);
        check(cudaMemcpy(host.data(), data(), bytes(), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    struct Free
    {
        // What went wrong before was reported by the call that found it.
        void operator()(T* data) const { static_cast<void>(cudaFree(data)); }
    };

    static T* allocate(std::size_t size)
    {
        void* data = nullptr;
        check(cudaMalloc(&data, size * sizeof(T)));
        return static_cast<T*>(data);
    }

    std::unique_ptr<T, Free> data_;
    std::size_t size_;
};

} // namespace cuda
