#include "ceilings/compiled_sets.hpp"
#include "ceilings/simd_kernels.hpp"

namespace ceilings {

#if defined(__x86_64__)
constexpr char const* name = "sse2";
#elif defined(__aarch64__)
constexpr char const* name = "neon";
#else
constexpr char const* name = "portable";
#endif

constinit CompiledSet const baseline = {kernels<float>(name), kernels<double>(name)};

} // namespace ceilings
