#include "ceilings/compiled_sets.hpp"
#include "ceilings/simd_kernels.hpp"

namespace ceilings {

constinit CompiledSet const avx2 = {kernels<float>("avx2"), kernels<double>("avx2")};

} // namespace ceilings
