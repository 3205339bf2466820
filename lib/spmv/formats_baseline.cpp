#include "spmv/format_table.hpp"

namespace spmv {

constinit CompiledFormats const formats_baseline = {format_table<float>("baseline"),
                                                    format_table<double>("baseline")};

} // namespace spmv
