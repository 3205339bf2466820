#pragma once

#include <vector>

namespace bench {

/// The middle of the sorted samples, or the mean of the two in the middle. `samples` is not empty.
double median(std::vector<double> samples);

} // namespace bench
