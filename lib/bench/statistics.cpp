#include "bench/statistics.hpp"

#include <algorithm>

namespace bench {

double median(std::vector<double> samples)
{
    auto const middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    if (samples.size() % 2 == 1) {
        return *middle;
    }
    return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

} // namespace bench
