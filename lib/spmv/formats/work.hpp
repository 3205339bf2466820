#pragma once

#include <cstdint>

/// \file
/// What a multiply does beside its products, counted in products: formats weigh their units with it
/// (`work_before`), so that threads get parts that take about equally long. The weights are rough,
/// for caches: from memory, where bytes decide, they are high.

namespace sparse {

/// A row: its loop, and its element of `y`. An empty one takes as long to write.
inline constexpr std::int64_t row_work = 2;

/// A window of a masked block.
inline constexpr std::int64_t window_work = 4;

/// A run of consecutive columns, whose products come a vector at a time. Of 4, 8 and 16, the last
/// dealt runs to two threads of a Zen 5 best.
inline constexpr std::int64_t run_work = 16;

} // namespace sparse
