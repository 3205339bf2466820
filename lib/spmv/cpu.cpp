#include "spmv/cpu.hpp"

namespace spmv {

Cpu detect_cpu()
{
#if defined(__x86_64__)
    return {
        .avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
        .avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"),
        .neon = false,
    };
#elif defined(__aarch64__)
    return {.avx2 = false, .avx512 = false, .neon = true}; // NEON is part of every AArch64
#else
    return {.avx2 = false, .avx512 = false, .neon = false};
#endif
}

} // namespace spmv
