#include "bench/cache_flush.hpp"

#include "bench/do_not_optimize.hpp"

namespace bench {

CacheFlush::CacheFlush(std::size_t last_level_cache_bytes)
    : words_(2 * last_level_cache_bytes / sizeof(std::uint64_t), 1)
{
}

void CacheFlush::operator()()
{
    constexpr std::size_t line = 64 / sizeof(std::uint64_t);
    constexpr std::size_t streams = 4; // one alone does not use all of the bandwidth
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
