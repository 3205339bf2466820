#include "spmv/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace spmv {

namespace {

#if defined(__x86_64__)
/// Intel's cores since Sapphire Rapids, which can be told by AVX-512 FP16. Gathers were slower than
/// single loads on the others that were measured: a Cascade Lake of Intel, a Zen 4 of AMD.
bool has_fast_gathers()
{
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    constexpr unsigned fp16 = 1u << 23;
    return __builtin_cpu_is("intel") && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
           (edx & fp16) != 0;
}
#endif

} // namespace

Cpu detect_cpu()
{
#if defined(__x86_64__)
    return {
        .avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
        .avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"),
        .neon = false,
        .fast_gathers = has_fast_gathers(),
    };
#elif defined(__aarch64__)
    // NEON is part of every AArch64.
    return {.avx2 = false, .avx512 = false, .neon = true, .fast_gathers = false};
#else
    return {.avx2 = false, .avx512 = false, .neon = false, .fast_gathers = false};
#endif
}

namespace {

/// The first word of a file; empty if there is none.
std::string first_word(std::string const& path)
{
    std::ifstream file{path};
    std::string word;
    file >> word;
    return word;
}

/// Bytes of `48K` or `32M`.
std::size_t bytes_of(std::string const& size)
{
    std::size_t const unit = size.ends_with('M') ? 1 << 20 : size.ends_with('K') ? 1 << 10 : 1;
    return static_cast<std::size_t>(std::strtoull(size.c_str(), nullptr, 10)) * unit;
}

} // namespace

Caches detect_caches()
{
    Caches found{std::size_t{32} << 10, std::size_t{1} << 20, std::size_t{64} << 20};
    int last = 0;
    for (int index = 0; index < 8; ++index) {
        auto const folder =
            "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        auto const size = bytes_of(first_word(folder + "size"));
        int const level = std::atoi(first_word(folder + "level").c_str());
        if (size == 0 || first_word(folder + "type") == "Instruction") {
            continue;
        }
        if (level == 1) {
            found.first = size;
        }
        if (level == 2) {
            found.core = size;
        }
        if (level > std::max(last, 1)) {
            last = level;
            found.shared = size;
        }
    }
    return found;
}

} // namespace spmv
