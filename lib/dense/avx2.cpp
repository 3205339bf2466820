#include "dense/compiled_kernels.hpp"
#include "dense/micro_kernel.hpp"

namespace dense {

constinit CompiledKernels const avx2_kernels = {kernel_of<float>("avx2"),
                                                kernel_of<double>("avx2")};

} // namespace dense
