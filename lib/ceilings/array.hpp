#pragma once

#include <omp.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace ceilings {

/// Bytes that move together between memory and caches.
inline constexpr std::size_t line_bytes = 64;

/// The elements `begin <= i < end` that one thread works on.
struct Slice
{
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
};

/// Part `index` of `parts` nearly equal parts of `count` elements of `element_bytes` each. Parts
/// begin on whole cache lines, counted from the array's start, so that no two threads write one
/// line.
inline Slice slice(std::size_t count, std::size_t element_bytes, int index, int parts)
{
    std::size_t const per_line = line_bytes / element_bytes;
    std::size_t const lines = (count + per_line - 1) / per_line;
    auto const start = [&](int part) {
        auto const whole = lines / static_cast<std::size_t>(parts) * static_cast<std::size_t>(part);
        auto const rest = lines % static_cast<std::size_t>(parts) * static_cast<std::size_t>(part);
        return std::min(count, (whole + rest / static_cast<std::size_t>(parts)) * per_line);
    };
    return {start(index), start(index + 1)};
}

/// An array of zeros that starts on a page (4096 bytes) and whose pages were first touched by the
/// threads that own their slices, so that each NUMA node holds what its threads read.
///
/// Large ones ask for huge pages, as the arrays of matrices do: a ceiling without them would be
/// lower than what it is the ceiling of, and gigabytes of small pages take seconds to touch.
template <class T>
class Array
{
public:
    Array(std::size_t count, int threads)
        : count_{count}, elements_{static_cast<T*>(::operator new(count * sizeof(T), page))}
    {
#ifdef MADV_HUGEPAGE
        if (auto const bytes = count * sizeof(T); bytes >= 2 * huge_page) {
            madvise(elements_.get(), bytes, MADV_HUGEPAGE); // a hint: may fail
        }
#endif
#pragma omp parallel num_threads(threads)
        {
            auto const own = slice(count, sizeof(T), omp_get_thread_num(), omp_get_num_threads());
            std::uninitialized_fill_n(elements_.get() + own.begin, own.size(), T{0});
        }
    }

    T* data()
    {
        return elements_.get();
    }
    T const* data() const
    {
        return elements_.get();
    }
    std::span<T> span()
    {
        return {elements_.get(), count_};
    }
    std::span<T const> span() const
    {
        return {elements_.get(), count_};
    }
    operator std::span<T>()
    {
        return span();
    }
    operator std::span<T const>() const
    {
        return span();
    }

private:
    static constexpr std::size_t huge_page = std::size_t{1} << 21;
    static constexpr std::align_val_t page{4096}; // not more, or all arrays met in the same banks
    struct Delete
    {
        void operator()(T* elements) const { ::operator delete(elements, page); }
    };

    std::size_t count_;
    std::unique_ptr<T[], Delete> elements_;
};

} // namespace ceilings
