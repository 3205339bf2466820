#include "spmv/gpu/steps/lane_tables.hpp"

#include <algorithm>
#include <cmath>

namespace spmv::gpu {

//! [table_light]
int light_lanes(double mean_row)
{
    return mean_row <= 2 ? 2 : mean_row <= 4 ? 4 : mean_row <= 64 ? 8 : 32;
}
//! [table_light]

//! [table_mixed]
int mixed_lanes(double mean_row)
{
    if (mean_row <= 8) {
        return 1;
    }
    return mean_row <= 16 ? 2 : mean_row <= 32 ? 4 : mean_row <= 64 ? 8 : mean_row <= 128 ? 16 : 32;
}
//! [table_mixed]

//! [table_nearest]
int nearest_lanes(double mean_row)
{
    double const exponent = std::round(std::log2(std::max(mean_row, 2.0)));
    return 1 << static_cast<int>(std::min(exponent, 5.0));
}
//! [table_nearest]

} // namespace spmv::gpu
