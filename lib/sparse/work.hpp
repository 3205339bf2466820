#pragma once

#include <cstdint>

/// \file
/// What a multiply does beside its products, counted in products: formats weigh their units with it
/// (`work_before`), so that threads get parts that take equally long. The weights are near what the
/// things take in a core's caches, as `plan_times/` of the library's plans has it; from memory,
/// where bytes decide, they are high.

namespace sparse {

/// A row: its loop, and its element of `y`. An empty one takes as long to write.
inline constexpr std::int64_t row_work = 2;

/// A window of a masked block.
inline constexpr std::int64_t window_work = 4;

/// A run of consecutive columns, whose products come a vector at a time.
inline constexpr std::int64_t run_work = 16;

} // namespace sparse
