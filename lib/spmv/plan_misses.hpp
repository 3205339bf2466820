#pragma once

#include "spmv/plan_sample.hpp"
#include "spmv/processor.hpp"

#include <cstdint>

/// \file
/// The elements of `x` that a multiply does not find in a near cache.

namespace spmv {

/// What a kernel finds that comes to the nonzeros in some order: shares of them whose element of
/// `x` is neither in a cache nor where it would have been fetched ahead.
struct Misses
{
    double first = 0; ///< of the first level
    double core = 0;  ///< of a core's second level
    double waits = 0; ///< as `core`, but those on the way at the same time count once
};

/// The misses of a kernel that takes `height` rows side by side, the first nonzero of each, then
/// the second of each; 1: row by row. A core has at most `at_a_time` of them under way.
template <class T>
Misses count_misses(Sample<T> const& sample, std::int32_t height, Caches const& caches,
                    double at_a_time);

/// What decides how long misses take.
struct VectorUse
{
    double nonzeros; ///< of the matrix
    double bytes;    ///< of `x`
    bool cold;       ///< all caches are empty at first
    bool streamed;   ///< the matrix goes through the caches from memory
};

/// How often the threads of a multiply wait for elements of `x`, all together, by where these come
/// from.
struct VectorWaits
{
    double near;   ///< the second level
    double busy;   ///< the second level, while a matrix streams through it from memory
    double shared; ///< the shared cache
    double memory;
};

/// The waits of a kernel with such misses. Where caches are empty, the first access to a line goes
/// to memory.
VectorWaits vector_waits(Misses const& misses, VectorUse const& use, Caches const& caches);

} // namespace spmv
