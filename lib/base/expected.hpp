#pragma once

#include <vector>

namespace base {

/// A result in higher precision, and how far a correct one may be from it.
struct Expected
{
    std::vector<double> value;
    std::vector<double> bound; ///< largest absolute error of each element; 0: it must be equal
};

} // namespace base
