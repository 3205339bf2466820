#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace machine {

/// Instruction sets that kernels ask for, and whether processor and system offer them.
struct InstructionSets
{
    bool avx2 = false;    ///< AVX2 and FMA
    bool avx512f = false; ///< AVX-512F, without which there is none of the others
    bool avx512 = false;  ///< AVX-512F, VL, BW and DQ: what server cores have had since Skylake
    bool neon = false;    ///< Advanced SIMD of AArch64

    /// Whether gather instructions of AVX-512 are faster than the loads that they stand for: on
    /// Intel's cores since Sapphire Rapids, which can be told by AVX-512 FP16. They were slower on
    /// the others that were measured: a Cascade Lake of Intel, a Zen 4 of AMD.
    bool fast_gathers = false;
};

/// What CPUID tells of an x86 processor.
struct Signature
{
    int family; ///< 6 for Intel's since the Pentium Pro; 25 for AMD's Zen 3 and Zen 4
    int model;
    int stepping;
};

/// The signature in EAX of CPUID's leaf 1: families beyond 15 and models beyond 15 are in two parts
/// (Intel's manual, volume 2, CPUID; AMD's, volume 3, appendix E).
Signature signature(std::uint32_t eax);

/// The processor, as it, the kernel and cpufreq describe it.
struct Cpu
{
    std::string vendor;                 ///< "amd", "intel", "arm", ...; empty where unknown
    std::optional<Signature> signature; ///< none where there is no CPUID
    std::string model;                  ///< its name, or "aarch64 processor" where it has none
    std::string architecture;           ///< as the kernel names it: "x86_64", "aarch64"
    std::vector<std::string> instruction_sets; ///< those worth a record, by the kernel's names
    InstructionSets has;
    std::optional<double> max_clock_hz; ///< none where cpufreq is missing: in most virtual machines
    std::string governor;               ///< of cpufreq, or "unknown"
    bool is_virtual;                    ///< whether a hypervisor lends it
};

/// The processor that runs this, looked at once.
Cpu const& cpu();

/// The highest clock in hertz that a folder of cpufreq names; none where it does not.
std::optional<double> max_clock_hz(std::string const& folder);

} // namespace machine
