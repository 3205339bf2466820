#pragma once

#include "bench/experiment.hpp"

#include <algorithm>
#include <cstddef>

namespace ceilings {

// What the processors can do at best, for `bench::Experiment::ceiling`; `threads` are OpenMP's.

/// Elements of each of the `arrays` arrays that a probe goes through again and again.
///
/// Each has four times `cache_bytes`, as STREAM asks, up to 512 MiB. Caches of more than 128 MiB
/// would make that gigabytes, most of which is time for touching them: there all arrays together
/// have at least four times the cache. A pass comes back to an element only after all others. A
/// cache that replaces the oldest has lost it by then; one that keeps whatever it likes has at most
/// a quarter.
template <class T>
constexpr std::size_t beyond_cache(std::size_t cache_bytes, std::size_t arrays)
{
    constexpr std::size_t enough = std::size_t{512} << 20;
    auto const of_stream = 4 * cache_bytes;
    return std::max(std::min(of_stream, enough), of_stream / arrays) / sizeof(T);
}

/// "read": bandwidth of reading, by the dot product `read_four_streams`.
bench::Ceiling read(int threads);

/// As above beyond a cache of so many bytes.
bench::Ceiling read_beyond(std::size_t cache_bytes, int threads);

/// "copy": bandwidth of copying, one byte read for each byte written, with stores past the caches
/// or through them, whichever is faster with these threads.
bench::Ceiling copy(int threads);
bench::Ceiling copy_beyond(std::size_t cache_bytes, int threads);

/// "triad": bandwidth of the triad, two bytes read for each byte written, with stores as above.
bench::Ceiling triad(int threads);
bench::Ceiling triad_beyond(std::size_t cache_bytes, int threads);

/// "fma_fp32" or "fma_fp64": rate of fused multiply-adds in registers, by `fma_chains` on the
/// widest vectors. `T` is float or double.
template <class T>
bench::Ceiling fma(int threads);

} // namespace ceilings
