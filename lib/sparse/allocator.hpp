#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace sparse {

namespace detail {

/// Larger arrays ask for pages of this size: random access to pages of 4 KiB misses the TLB.
inline constexpr std::size_t huge_page = std::size_t{1} << 21;

inline std::align_val_t alignment_of(std::size_t bytes, std::size_t alignment)
{
    return std::align_val_t{bytes < 2 * huge_page ? alignment : huge_page};
}

inline void* allocate(std::size_t bytes, std::size_t alignment)
{
    void* pointer = ::operator new(bytes, alignment_of(bytes, alignment));
#ifdef MADV_HUGEPAGE
    if (bytes >= 2 * huge_page) {
        madvise(pointer, bytes / huge_page * huge_page, MADV_HUGEPAGE); // a hint: may fail
    }
#endif
    return pointer;
}

inline void deallocate(void* pointer, std::size_t bytes, std::size_t alignment) noexcept
{
    ::operator delete(pointer, alignment_of(bytes, alignment));
}

} // namespace detail

/// Allocator that leaves trivial elements uninitialised on resize and aligns to `Alignment` bytes.
///
/// Value-initialising a large array would touch every page on one thread, which decides its NUMA
/// placement and doubles the memory traffic of a conversion.
template <class T, std::size_t Alignment = alignof(std::max_align_t)>
struct UninitialisedAllocator
{
    using value_type = T;

    /// The same allocator for another element type.
    template <class U>
    struct rebind
    {
        using other = UninitialisedAllocator<U, Alignment>;
    };

    UninitialisedAllocator() = default;

    template <class U>
    UninitialisedAllocator(UninitialisedAllocator<U, Alignment> const&) noexcept
    {
    }

    T* allocate(std::size_t count)
    {
        if (count > static_cast<std::size_t>(-1) / sizeof(T)) {
            throw std::bad_array_new_length{};
        }
        return static_cast<T*>(detail::allocate(count * sizeof(T), Alignment));
    }

    void deallocate(T* pointer, std::size_t count) noexcept
    {
        detail::deallocate(pointer, count * sizeof(T), Alignment);
    }

    template <class U>
    void construct(U* pointer) noexcept
    {
        ::new (static_cast<void*>(pointer)) U;
    }

    template <class U, class... Arguments>
    void construct(U* pointer, Arguments&&... arguments)
    {
        ::new (static_cast<void*>(pointer)) U(std::forward<Arguments>(arguments)...);
    }

    friend bool operator==(UninitialisedAllocator, UninitialisedAllocator) { return true; }
};

/// A growable array whose new elements are uninitialised; alignment is that of malloc.
template <class T>
using Array = std::vector<T, UninitialisedAllocator<T>>;

/// An `Array` that starts on a cache line (64 bytes).
template <class T>
using AlignedArray = std::vector<T, UninitialisedAllocator<T, 64>>;

} // namespace sparse
