#include "spmv/format_table.hpp"

namespace spmv {

constinit CompiledFormats const formats_avx2 = {format_table<float>("avx2"),
                                                format_table<double>("avx2")};

} // namespace spmv
