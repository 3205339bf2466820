#pragma once

#include "cuda/stream.hpp"
#include "dense/matrix.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// \file
/// Products of 16 bits without tensor cores, by threads that read operands of any alignment where
/// they lie: for those that are done before a faster kernel has begun, or before operands are
/// copied for it. `T` is base::fp16 or base::bf16; sums are in float and rounded once.

namespace dense::gpu {

/// How threads divide such a product among them.
enum class SmallWay
{
    shallow,     ///< each makes whole sums (`multiply_shallow`)
    tiles,       ///< blocks make tiles from shared memory
    across_few,  ///< 8 warps make a part of a row, each a part of the depth
    across_many, ///< 32 warps do
    along_few,   ///< a warp makes a row of few columns
    along_many   ///< 32 warps do, each a part of the depth
};

/// "rows by 8 warps"
std::string_view name_of(SmallWay way);

/// A way, and what an H200 is expected to take for it.
struct SmallPlan
{
    SmallWay way = SmallWay::shallow;
    double microseconds = 0;
};

/// The ways that can make so many rows and columns of such a depth, the fastest first.
std::vector<SmallPlan> small_plans(std::int64_t rows, std::int64_t columns, std::int64_t depth);

/// `c = alpha a b + beta c` in one of these ways; `c` is not read where `beta` is 0. Throws
/// std::invalid_argument where the way is not made for so many columns.
template <class T>
void multiply_small(SmallWay way, double alpha, Matrix<T const> a, Matrix<T const> b, double beta,
                    Matrix<T> c, cuda::Stream const& stream);

} // namespace dense::gpu
