#pragma once

#include <cstddef>

namespace spmv {

/// Instruction sets that some kernels need, and whether processor and system offer them.
struct Cpu
{
    bool avx2;   ///< AVX2 and FMA
    bool avx512; ///< AVX-512F, VL, BW and DQ: what server cores have had since Skylake
    bool neon;   ///< Advanced SIMD of AArch64

    /// Whether gather instructions of AVX-512 are faster than the loads that they stand for.
    bool fast_gathers;
};

/// What the processor that runs this offers.
Cpu detect_cpu();

/// Sizes of caches, in bytes.
struct Caches
{
    std::size_t first;  ///< first level, of data; 32 KiB if it is unknown
    std::size_t core;   ///< second level; 1 MiB if it is unknown
    std::size_t shared; ///< last level; 64 MiB if it is unknown
};

/// The caches of the first processor, as Linux tells them in /sys.
Caches detect_caches();

} // namespace spmv
