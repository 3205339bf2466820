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
    auto const lines = static_cast<std::int64_t>(words_.size() / line);
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t i = 0; i < lines; ++i) {
        sum += words_[static_cast<std::size_t>(i) * line];
    }
    do_not_optimize(sum);
}

} // namespace bench
