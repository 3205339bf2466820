#include "dense/compiled_kernels.hpp"
#include "dense/micro_kernel.hpp"

namespace dense {

constinit CompiledKernels const avx512_kernels = {kernel_of<float>("avx512"),
                                                  kernel_of<double>("avx512")};

} // namespace dense
