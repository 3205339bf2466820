#pragma once

#include <cstddef>
#include <vector>

namespace spmv {

/// Takes out of the caches what was in them, by touching twice as many bytes as the last level of
/// one core holds. Made of 0 bytes, it does nothing.
class CacheSweep
{
public:
    explicit CacheSweep(std::size_t bytes) : lines_(bytes / sizeof(Line)) {}

    void operator()()
    {
        auto const count = static_cast<std::ptrdiff_t>(lines_.size());
#pragma omp parallel for schedule(static) if (count > 0)
        for (std::ptrdiff_t k = 0; k < count; ++k) {
            ++lines_[static_cast<std::size_t>(k)].first;
        }
    }

private:
    struct alignas(64) Line
    {
        unsigned char first = 0;
    };

    std::vector<Line> lines_;
};

} // namespace spmv
