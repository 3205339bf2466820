#include "spmv/formats/kernels.hpp"

namespace spmv {

constinit CompiledFormats const formats_avx512 = compiled_formats("avx512");

} // namespace spmv
