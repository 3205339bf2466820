#include "spmv/formats/kernels.hpp"

namespace spmv {

constinit CompiledFormats const formats_avx2 = compiled_formats("avx2");

} // namespace spmv
