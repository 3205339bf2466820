#include "bench/cache_flush.hpp"

#include "bench/do_not_optimize.hpp"
#include "machine/memory_map.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <span>

namespace bench {

namespace {

constexpr std::size_t line_bytes = 64;

#if defined(__x86_64__)

bool has_line_flush()
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}

__attribute__((target("clflushopt"))) void flush_lines(std::span<std::byte const> bytes)
{
    auto const lines = static_cast<std::int64_t>(bytes.size() / line_bytes);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < lines; ++i) {
            _mm_clflushopt(const_cast<std::byte*>(bytes.data()) + i * std::int64_t{line_bytes});
        }
        _mm_sfence();
    }
}

#else

bool has_line_flush()
{
    return false;
}

void flush_lines(std::span<std::byte const>) {}

#endif

} // namespace

void CacheFlush::operator()()
{
    static bool const by_line = has_line_flush();
    std::size_t held = 0;
    auto const count = [&](std::span<std::byte const> bytes) { held += bytes.size(); };
    if (!by_line || !machine::for_resident_memory(count) || held > bytes_ ||
        !machine::for_resident_memory(flush_lines)) {
        read();
    }
}

void CacheFlush::read()
{
    constexpr std::size_t line = line_bytes / sizeof(std::uint64_t);
    constexpr std::size_t streams = 4; // one alone does not use all of the bandwidth
    words_.resize(bytes_ / sizeof(std::uint64_t), 1);
    auto const lines = words_.size() / line / streams;
    auto const count = static_cast<std::int64_t>(lines);
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t i = 0; i < count; ++i) {
        auto const* const first = &words_[static_cast<std::size_t>(i) * line];
        for (std::size_t stream = 0; stream < streams; ++stream) {
            sum += first[stream * lines * line];
        }
    }
    do_not_optimize(sum);
}

} // namespace bench
