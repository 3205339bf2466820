#include "spmv/formats/kernels.hpp"

namespace spmv {

constinit CompiledFormats const formats_baseline = compiled_formats("baseline");

} // namespace spmv
