#include "spmv/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

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
