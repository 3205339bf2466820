#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

/// The middle of the sorted samples, or the mean of the two in the middle. `samples` is not empty.
inline double median(std::vector<double> samples)
{
    std::ranges::sort(samples);
    auto const half = samples.size() / 2;
    return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

} // namespace bench
