#pragma once

#include "spmv/format_kernels.hpp"

namespace spmv {

/// What one object with flags of its own exports.
struct CompiledFormats
{
    FormatKernels<float> fp32;
    FormatKernels<double> fp64;
};

extern CompiledFormats const formats_avx512;

/// AVX-512 with gather instructions.
extern CompiledFormats const formats_avx512_gather;

extern CompiledFormats const formats_avx2;

/// Compiled without special flags: runs on every CPU of the architecture.
extern CompiledFormats const formats_baseline;

} // namespace spmv
