#include "dense/compiled_kernels.hpp"
#include "dense/micro_kernel.hpp"

namespace dense {

constinit CompiledKernels const baseline_kernels = {kernel_of<float>("baseline"),
                                                    kernel_of<double>("baseline")};

} // namespace dense
