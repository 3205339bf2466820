#include "ceilings/compiled_sets.hpp"
#include "ceilings/simd_kernels.hpp"

namespace ceilings {

constinit CompiledSet const avx512 = {kernels<float>("avx512"), kernels<double>("avx512")};

} // namespace ceilings
