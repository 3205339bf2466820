#include "machine/cpu.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace machine {

namespace {

constexpr auto cpufreq = "/sys/devices/system/cpu/cpu0/cpufreq";

std::string first_line(std::string const& path)
{
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    return line;
}

/// Value of the first line "key : value" of /proc/cpuinfo.
std::string cpuinfo(std::string_view key)
{
    std::ifstream file{"/proc/cpuinfo"};
    for (std::string line; std::getline(file, line);) {
        auto const colon = line.find(':');
        if (colon != std::string::npos && line.starts_with(key)) {
            auto const first = line.find_first_not_of(" \t", colon + 1);
            return first == std::string::npos ? "" : line.substr(first);
        }
    }
    return "";
}

std::string architecture()
{
    utsname names{};
    uname(&names);
    return names.machine;
}

#if defined(__x86_64__)

/// What the processor calls its vendor: EBX, EDX and ECX of leaf 0.
std::string vendor_id()
{
    unsigned highest = 0;
    std::array<unsigned, 3> text{};
    __get_cpuid(0, &highest, &text[0], &text[2], &text[1]);
    return {reinterpret_cast<char const*>(text.data()), sizeof text};
}

std::optional<Signature> read_signature()
{
    unsigned eax = 0;
    unsigned unused = 0;
    bool const known = __get_cpuid(1, &eax, &unused, &unused, &unused) != 0;
    return known ? std::optional{signature(eax)} : std::nullopt;
}

InstructionSets read_instruction_sets()
{
    constexpr unsigned fp16 = 1u << 23;
    unsigned unused = 0;
    unsigned edx = 0;
    bool const has_fp16 =
        __get_cpuid_count(7, 0, &unused, &unused, &unused, &edx) != 0 && (edx & fp16) != 0;
    return {
        .avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
        .avx512f = __builtin_cpu_supports("avx512f") != 0,
        .avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"),
        .neon = false,
        .fast_gathers = __builtin_cpu_is("intel") && has_fp16,
    };
}

#else

/// The code of the implementer in AArch64's register MIDR_EL1.
std::string vendor_id()
{
    return cpuinfo("CPU implementer");
}

std::optional<Signature> read_signature()
{
    return std::nullopt;
}

InstructionSets read_instruction_sets()
{
    return {.neon = architecture() == "aarch64"}; // it is part of every AArch64
}

#endif

std::string vendor()
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{
        {{"AuthenticAMD", "amd"},
         {"GenuineIntel", "intel"},
         {"HygonGenuine", "hygon"},
         {"0x41", "arm"},
         {"0x4e", "nvidia"},
         {"0x61", "apple"},
         {"0xc0", "ampere"}}};
    auto const id = vendor_id();
    auto const known = std::ranges::find(names, id, &decltype(names)::value_type::first);
    return known == names.end() ? "" : std::string{known->second};
}

std::vector<std::string> instruction_sets()
{
    constexpr std::array<std::string_view, 15> interesting{
        "sse4_2",      "avx",         "avx2",     "fma",   "f16c",
        "avx512f",     "avx512vl",    "avx512bw", "asimd", "asimdhp",
        "avx512_bf16", "avx512_fp16", "amx_bf16", "sve",   "sve2"};
    std::istringstream flags{cpuinfo(architecture() == "aarch64" ? "Features" : "flags")};
    std::vector<std::string> present;
    for (std::string flag; flags >> flag;) {
        if (std::ranges::find(interesting, flag) != interesting.end()) {
            present.push_back(flag);
        }
    }
    return present;
}

bool is_virtual()
{
    return cpuinfo("flags").find("hypervisor") != std::string::npos ||
           !first_line("/sys/hypervisor/type").empty() ||
           !first_line("/proc/device-tree/hypervisor/compatible").empty();
}

Cpu look()
{
    auto const model = cpuinfo("model name");
    auto const governor = first_line(std::string{cpufreq} + "/scaling_governor");
    return {.vendor = vendor(),
            .signature = read_signature(),
            .model = model.empty() ? architecture() + " processor" : model,
            .architecture = architecture(),
            .instruction_sets = instruction_sets(),
            .has = read_instruction_sets(),
            .max_clock_hz = max_clock_hz(cpufreq),
            .governor = governor.empty() ? "unknown" : governor,
            .is_virtual = is_virtual()};
}

} // namespace

Signature signature(std::uint32_t eax)
{
    auto const bits = [=](int first, std::uint32_t mask) {
        return static_cast<int>(eax >> first & mask);
    };
    int const base = bits(8, 0xf);
    bool const is_long = base == 6 || base == 15; // has an extended model
    return {.family = base == 15 ? base + bits(20, 0xff) : base,
            .model = bits(4, 0xf) + (is_long ? bits(16, 0xf) << 4 : 0),
            .stepping = bits(0, 0xf)};
}

std::optional<double> max_clock_hz(std::string const& folder)
{
    std::ifstream file{folder + "/cpuinfo_max_freq"};
    double kilohertz = 0;
    return file >> kilohertz && kilohertz > 0 ? std::optional{1e3 * kilohertz} : std::nullopt;
}

Cpu const& cpu()
{
    static Cpu const processor = look();
    return processor;
}

} // namespace machine
