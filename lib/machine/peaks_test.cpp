#include "machine/system.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using machine::Cpu;
using Json = nlohmann::ordered_json;

Json const* find(Json const& peaks, std::string_view name)
{
    auto const found =
        std::ranges::find_if(peaks, [=](Json const& peak) { return peak["name"] == name; });
    return found == peaks.end() ? nullptr : &*found;
}

double value(Json const& peaks, std::string_view name)
{
    auto const* const peak = find(peaks, name);
    REQUIRE_MESSAGE(peak != nullptr, name);
    CHECK_FALSE((*peak)["source"].get<std::string>().empty());
    CHECK(peak->size() == 3);
    return peak->at(name.find("fma") != name.npos ? "flops_per_s" : "bytes_per_s");
}

Json gpu(char const* capability, int multiprocessors, double hz)
{
    return {{"compute_capability", capability},
            {"multiprocessors", multiprocessors},
            {"max_clock_hz", hz}};
}

Json on_bus(int generation, int lanes)
{
    return {{"bus", {{"generation", generation}, {"lanes", lanes}}}};
}

Cpu cpu(char const* vendor, int family, int model)
{
    Cpu made{};
    made.vendor = vendor;
    made.signature = {.family = family, .model = model, .stepping = 1};
    made.max_clock_hz = 2e9;
    return made;
}

} // namespace

TEST_CASE("arithmetic peaks of GPUs are those of their data sheets")
{
    struct Sheet
    {
        Json gpu;
        double fp32, fp64;
    };
    // V100, T4, A100, A10, L40, H100, each as SXM where there are two.
    for (auto const& sheet : {Sheet{gpu("7.0", 80, 1530e6), 15.7e12, 7.8e12},
                              Sheet{gpu("7.5", 40, 1590e6), 8.1e12, 0.254e12},
                              Sheet{gpu("8.0", 108, 1410e6), 19.5e12, 9.7e12},
                              Sheet{gpu("8.6", 72, 1695e6), 31.2e12, 0.488e12},
                              Sheet{gpu("8.9", 142, 2490e6), 90.5e12, 1.414e12},
                              Sheet{gpu("9.0", 132, 1980e6), 66.9e12, 33.5e12}}) {
        auto const peaks = machine::peaks(sheet.gpu);
        CAPTURE(sheet.gpu.dump());
        CHECK(value(peaks, "device_fma_fp32") == doctest::Approx(sheet.fp32).epsilon(0.01));
        CHECK(value(peaks, "device_fma_fp64") == doctest::Approx(sheet.fp64).epsilon(0.01));
        CHECK(peaks.size() == 2);
    }
}

TEST_CASE("a GPU's memory moves data at both edges of its clock")
{
    Json const h200{{"max_memory_clock_hz", 3201e6}, {"memory_bus_bits", 6144}};
    CHECK(value(machine::peaks(h200), "device_read") == doctest::Approx(4.917e12).epsilon(1e-3));
}

TEST_CASE("the bus has a peak each way, after encoding")
{
    auto const peaks = machine::peaks(on_bus(5, 16));
    CHECK(value(peaks, "bus_to_device") == doctest::Approx(63.015e9).epsilon(1e-4));
    CHECK(value(peaks, "bus_to_host") == value(peaks, "bus_to_device"));
    CHECK((*find(peaks, "bus_to_host"))["source"] ==
          "PCI Express 5.0 x16, one direction: 64 GB/s, and after encoding (128b/130b) 63.02");
    CHECK(value(machine::peaks(on_bus(2, 8)), "bus_to_host") == 4e9);
    for (int const unknown : {0, 9}) {
        CHECK(machine::peaks(on_bus(unknown, 16)).empty());
    }
}

TEST_CASE("what the driver does not tell has no peak")
{
    CHECK(machine::peaks(Json::object()).empty());
    CHECK(machine::peaks(gpu("99.0", 100, 1e9)).empty());
    auto silent = gpu("9.0", 132, 0);
    silent["max_memory_clock_hz"] = 0;
    silent["memory_bus_bits"] = 5120;
    CHECK(machine::peaks(silent).empty());
}

TEST_CASE("cores have peaks where clock and family are known")
{
    // 2 GHz, 8 cores, 16 or 32 multiply-adds in single precision.
    CHECK(value(machine::peaks(cpu("amd", 25, 17), 8), "fma_fp32") == 512e9);
    CHECK(value(machine::peaks(cpu("amd", 25, 17), 8), "fma_fp64") == 256e9);
    CHECK(value(machine::peaks(cpu("amd", 26, 2), 8), "fma_fp64") == 512e9);
    CHECK(value(machine::peaks(cpu("amd", 23, 49), 1), "fma_fp32") == 64e9);
    CHECK(value(machine::peaks(cpu("amd", 23, 1), 1), "fma_fp32") == 32e9);
    CHECK(value(machine::peaks(cpu("intel", 6, 143), 1), "fma_fp32") == 128e9);
    CHECK(machine::peaks(cpu("intel", 6, 85), 1).empty());
    CHECK(machine::peaks(cpu("intel", 25, 17), 1).empty());
    auto no_clock = cpu("amd", 25, 17);
    no_clock.max_clock_hz.reset();
    CHECK(machine::peaks(no_clock, 8).empty());
    CHECK(machine::peaks(Cpu{}, 8).empty());
}
