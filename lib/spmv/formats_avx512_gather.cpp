#define SIMD_GATHER_INSTRUCTIONS

#include "spmv/format_table.hpp"

namespace spmv {

constinit CompiledFormats const formats_avx512_gather = {format_table<float>("avx512_gather"),
                                                         format_table<double>("avx512_gather")};

} // namespace spmv
