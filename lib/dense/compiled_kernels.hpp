#pragma once

#include "dense/gemm.hpp"

namespace dense {

/// The kernels of one object.
struct CompiledKernels
{
    MicroKernel<float> fp32;
    MicroKernel<double> fp64;
};

extern CompiledKernels const avx512_kernels;   ///< x86-64 with AVX-512
extern CompiledKernels const avx2_kernels;     ///< x86-64 with AVX2 and FMA
extern CompiledKernels const baseline_kernels; ///< what every processor of the architecture has

} // namespace dense
