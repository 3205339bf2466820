#pragma once

namespace spmv::gpu {

// The articles choose by the mean number of nonzeros per row. 0 without rows.

/// Lanes of LightSpMV's dynamic rows as article 1 dispatches them: 2, 4, 8 or 32.
int light_lanes(double mean_row);

/// Lanes of article 1's mixed strategy: 1 (a thread per row) up to a mean of 8, then dynamic rows
/// with 2 to 32 lanes.
int mixed_lanes(double mean_row);

/// Lanes of article 5's vector kernel: the power of two nearest to the mean, 2 to 32.
int nearest_lanes(double mean_row);

} // namespace spmv::gpu
