#include "spmv/format_table.hpp"

namespace spmv {

constinit CompiledFormats const formats_avx512 = {format_table<float>("avx512"),
                                                  format_table<double>("avx512")};

} // namespace spmv
