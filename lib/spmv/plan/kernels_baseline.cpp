#include "spmv/plan/format_kernels.hpp"

namespace spmv {

constinit CompiledFormats const formats_baseline = compiled_formats("baseline");

} // namespace spmv
