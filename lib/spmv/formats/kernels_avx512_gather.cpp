#define SIMD_GATHER_INSTRUCTIONS

#include "spmv/formats/kernels.hpp"

namespace spmv {

constinit CompiledFormats const formats_avx512_gather = compiled_formats("avx512_gather");

} // namespace spmv
