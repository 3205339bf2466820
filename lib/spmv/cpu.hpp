#pragma once

namespace spmv {

/// Instruction sets that some kernels need, and whether processor and system offer them.
struct Cpu
{
    bool avx2;   ///< AVX2 and FMA
    bool avx512; ///< AVX-512F, VL, BW and DQ: what server cores have had since Skylake
    bool neon;   ///< Advanced SIMD of AArch64
};

/// What the processor that runs this offers.
Cpu detect_cpu();

} // namespace spmv
