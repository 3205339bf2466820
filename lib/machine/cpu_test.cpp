#include "machine/cpu.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace {

bool lists(char const* set)
{
    return std::ranges::count(machine::cpu().instruction_sets, set) > 0;
}

} // namespace

TEST_CASE("signatures of CPUID are read as the manuals say")
{
    struct Known
    {
        std::uint32_t eax;
        int family, model, stepping;
    };
    // Zen 4 (Genoa), Sapphire Rapids, Cascade Lake, Zen 5 (Turin), Zen 2 (Rome), Pentium 4, 486.
    for (auto const& known :
         {Known{0x00a10f11, 25, 17, 1}, Known{0x000806f8, 6, 143, 8}, Known{0x00050657, 6, 85, 7},
          Known{0x00b00f21, 26, 2, 1}, Known{0x00830f10, 23, 49, 0}, Known{0x00000f29, 15, 2, 9},
          Known{0x00000480, 4, 8, 0}}) {
        CAPTURE(known.eax);
        auto const found = machine::signature(known.eax);
        CHECK(found.family == known.family);
        CHECK(found.model == known.model);
        CHECK(found.stepping == known.stepping);
    }
}

TEST_CASE("a processor has a name, and what is known of it fits together")
{
    auto const& cpu = machine::cpu();
    CHECK_FALSE(cpu.model.empty());
    CHECK_FALSE(cpu.architecture.empty());
    CHECK_FALSE(cpu.governor.empty());
    CHECK(std::ranges::none_of(cpu.vendor, [](unsigned char c) { return std::isupper(c) != 0; }));
    CHECK(cpu.signature.has_value() == (cpu.architecture == "x86_64"));
    CHECK(cpu.max_clock_hz.value_or(1e9) > 1e8);
    CHECK(&cpu == &machine::cpu());
}

TEST_CASE("kernels use no instruction set that the kernel does not list")
{
    auto const& has = machine::cpu().has;
    CHECK((!has.avx512 || has.avx512f));
    CHECK((!has.fast_gathers || machine::cpu().vendor == "intel"));
    if (machine::cpu().architecture == "x86_64") {
        CHECK(has.avx2 == (lists("avx2") && lists("fma")));
        CHECK(has.avx512f == lists("avx512f"));
        CHECK_FALSE(has.neon);
    } else {
        CHECK_FALSE(has.avx2);
        CHECK(has.neon == (machine::cpu().architecture == "aarch64"));
    }
}

TEST_CASE("the highest clock is that of cpufreq, and none where that is missing")
{
    auto const folder = std::filesystem::temp_directory_path() / "memwall-cpufreq-test";
    std::filesystem::create_directories(folder);
    auto const file = folder / "cpuinfo_max_freq";
    std::ofstream{file} << "3700000\n";
    CHECK(machine::max_clock_hz(folder).value() == 3.7e9);
    for (auto const* wrong : {"", "0\n", "<unknown>\n"}) {
        std::ofstream{file} << wrong;
        CHECK_FALSE(machine::max_clock_hz(folder).has_value());
    }
    std::filesystem::remove_all(folder);
    CHECK_FALSE(machine::max_clock_hz(folder).has_value());
}
