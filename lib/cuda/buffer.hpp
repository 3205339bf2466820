#pragma once

#include "base/bytes.hpp"

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace cuda {

/// Memory of the current device, without a value. Throws `Error` if it has not enough.
void* allocate(::std::size_t bytes);

/// Gives it back.
void release(void* memory);

/// Copies from the host or to it, after all work of streams that was issued before.
void copy_to_device(void* device, void const* host, ::std::size_t bytes);
void copy_to_host(void* host, void const* device, ::std::size_t bytes);

/// An array of `size()` elements in the memory of the current device.
template <class T>
class Buffer
{
    static_assert(::std::is_trivially_copyable_v<T>);

public:
    /// An array without a value. Throws `Error` if the device has not enough memory,
    /// std::invalid_argument if none can have.
    explicit Buffer(::std::size_t size)
        : data_{static_cast<T*>(allocate(base::bytes_of("cuda::Buffer", size, sizeof(T)))),
                release},
          size_{size}
    {
    }

    /// A copy of an array on the host.
    explicit Buffer(::std::span<T const> host) : Buffer{host.size()} { upload(host); }

    T* data() { return data_.get(); }
    T const* data() const { return data_.get(); }
    ::std::size_t size() const { return size_; }
    ::std::size_t bytes() const { return size_ * sizeof(T); }

    /// The elements, which only the device can read.
    ::std::span<T> span() { return {data(), size()}; }
    ::std::span<T const> span() const { return {data(), size()}; }

    /// Overwrites all elements with `host`, after all work of streams that was issued before.
    /// Throws std::invalid_argument if the sizes differ.
    void upload(::std::span<T const> host)
    {
        if (host.size() != size_) {
            throw ::std::invalid_argument{"cuda::Buffer::upload: the sizes differ"};
        }
        copy_to_device(data(), host.data(), bytes());
    }

    /// The elements, after all work of streams that was issued before.
    ::std::vector<T> download() const
    {
        ::std::vector<T> host(size_);
        copy_to_host(host.data(), data(), bytes());
        return host;
    }

private:
    ::std::unique_ptr<T, decltype(&release)> data_;
    ::std::size_t size_;
};

/// Elements of what lies on the host, whether it may be written or not.
template <::std::ranges::contiguous_range Host>
Buffer(Host const&) -> Buffer<::std::ranges::range_value_t<Host>>;

} // namespace cuda
