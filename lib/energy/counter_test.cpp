#include "energy/counter.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace {

using energy::of_gpu;
using energy::of_host;
using std::filesystem::path;

constexpr char const* bus_id = "0000:00:06.0";

std::string fake(char const* variable = "FAKE_NVML")
{
    auto const* const file = std::getenv(variable);
    REQUIRE(file != nullptr);
    return file;
}

/// A variable of the environment for the life of an object.
class Set
{
public:
    Set(char const* name, char const* value) : name_{name} { setenv(name, value, 1); }
    ~Set() { unsetenv(name_); }
    Set(Set const&) = delete;
    Set& operator=(Set const&) = delete;

private:
    char const* name_;
};

/// A folder of zones that goes away with it.
class Powercap
{
public:
    Powercap()
        : path_{std::filesystem::temp_directory_path() / ("powercap" + std::to_string(getpid()))}
    {
        std::filesystem::create_directories(path_);
    }
    ~Powercap() { std::filesystem::remove_all(path_); }
    Powercap(Powercap const&) = delete;
    Powercap& operator=(Powercap const&) = delete;

    path const& folder() const { return path_; }

    void zone(std::string const& zone, std::string const& name)
    {
        std::filesystem::create_directories(path_ / zone);
        write(zone, "name", name);
        write(zone, "max_energy_range_uj", "1000000");
    }
    void write(std::string const& zone, std::string const& file, std::string const& text)
    {
        std::ofstream{path_ / zone / file} << text << '\n';
    }

private:
    path path_;
};

} // namespace

TEST_CASE("the counter of a GPU takes steps, from its first number on")
{
    Set const start{"FAKE_NVML_START", "123456789"};
    auto const counter = of_gpu(bus_id, fake());
    REQUIRE(counter->missing() == "");
    CHECK(counter->name() == "nvml");
    double joules = 0;
    int steps = 0;
    for (int i = 0; i < 40; ++i) {
        auto const before = joules;
        joules = counter->joules();
        CHECK((joules == before || joules == doctest::Approx(before + 0.25)));
        steps += joules > before;
    }
    CHECK(steps == 10);
    CHECK(joules == doctest::Approx(2.5));
}

TEST_CASE("the counter of a GPU may come round")
{
    Set const start{"FAKE_NVML_START", "18446744073709551000"}; // 616 below 2^64
    auto const counter = of_gpu(bus_id, fake());
    double joules = 0;
    for (int i = 0; i < 40; ++i) {
        joules = counter->joules();
    }
    CHECK(joules == doctest::Approx(2.5));
}

TEST_CASE("a counter that is set back is no counter")
{
    energy::Total total{1'000'000, 1000};
    CHECK(total(999'900) == 0);
    CHECK(total(999'990) == 90);
    CHECK(total(9) == 110);
    CHECK_THROWS_AS(total(5), std::runtime_error);
    CHECK_THROWS_AS(total(2000), std::runtime_error);
    CHECK_THROWS_AS(total(1'000'001), std::runtime_error);
}

TEST_CASE("a GPU tells its state, as far as it can")
{
    {
        auto const counter = of_gpu(bus_id, fake());
        auto const state = counter->state();
        CHECK(state.clock_hz == 1980e6);
        CHECK(state.memory_clock_hz == 3201e6);
        CHECK(state.temperature_c == 42);
        CHECK(state.held_back == 0);
    }
    Set const cap{"FAKE_NVML_REASONS", "0x4"};
    CHECK(of_gpu(bus_id, fake())->state().held_back == 1);
    Set const idle{"FAKE_NVML_REASONS", "0x3"};
    CHECK(of_gpu(bus_id, fake())->state().held_back == 0);
    Set const fails{"FAKE_NVML_FAILS", "nvmlDeviceGetTemperature"};
    CHECK(std::isnan(of_gpu(bus_id, fake())->state().temperature_c));
}

TEST_CASE("a GPU without a counter says why, and what would help")
{
    CHECK(
        of_gpu(bus_id, "/nowhere/libnvidia-ml.so.1")->missing() ==
        "no energy counter: found no /nowhere/libnvidia-ml.so.1, which comes with NVIDIA's driver");
    CHECK(of_gpu(bus_id, fake("FAKE_NVML_BARE"))
              ->missing()
              .ends_with("has no nvmlDeviceGetTotalEnergyConsumption, which newer drivers have"));
    CHECK(of_gpu("0000:00:07.0", fake())->missing().find("knows no GPU 0000:00:07.0") !=
          std::string::npos);
    {
        Set const fails{"FAKE_NVML_FAILS", "nvmlInit_v2"};
        CHECK(of_gpu(bus_id, fake())->missing().find("does not start") != std::string::npos);
    }
    Set const fails{"FAKE_NVML_FAILS", "nvmlDeviceGetTotalEnergyConsumption"};
    CHECK(of_gpu(bus_id, fake())->missing().find("GPUs since Volta") != std::string::npos);
}

TEST_CASE("an error in the middle is told in one line")
{
    auto const counter = of_gpu(bus_id, fake());
    counter->joules();
    Set const fails{"FAKE_NVML_FAILS", "nvmlDeviceGetTotalEnergyConsumption"};
    CHECK_THROWS_WITH(counter->joules(),
                      "nvmlDeviceGetTotalEnergyConsumption failed, which has worked before");
}

TEST_CASE("MEMWALL_NVML names the library")
{
    Set const named{"MEMWALL_NVML", fake().c_str()};
    CHECK(of_gpu(bus_id)->missing() == "");
}

TEST_CASE("packages and their memory are added up, each coming round by itself")
{
    Powercap zones;
    zones.zone("intel-rapl:0", "package-0");
    zones.zone("intel-rapl:1", "package-1");
    zones.zone("intel-rapl:0:0", "core"); // inside the package
    zones.zone("intel-rapl:0:1", "dram");
    zones.zone("intel-rapl-mmio:0", "package-0"); // the same package once more
    for (auto const* const zone :
         {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0", "intel-rapl:0:1"}) {
        zones.write(zone, "energy_uj", "999000");
    }
    auto const counter = of_host(zones.folder());
    REQUIRE(counter->missing() == "");
    CHECK(counter->name() == "powercap");
    CHECK(counter->joules() == 0);
    zones.write("intel-rapl:0", "energy_uj", "1000000");
    zones.write("intel-rapl:1", "energy_uj", "499999"); // came round
    zones.write("intel-rapl:0:0", "energy_uj", "5");    // counts nothing
    zones.write("intel-rapl:0:1", "energy_uj", "999500");
    CHECK(counter->joules() == doctest::Approx(0.001 + 0.501 + 0.0005));
    std::filesystem::remove(zones.folder() / "intel-rapl:1/energy_uj");
    CHECK_THROWS_AS(counter->joules(), std::runtime_error);
}

TEST_CASE("a host without counters says why, and what would help")
{
    CHECK(of_host("/nowhere")->missing() ==
          "no energy counter: /nowhere has no zones of processors, which Linux shows on bare metal "
          "with the module intel_rapl_msr loaded");
    Powercap zones;
    zones.zone("intel-rapl:0", "package-0");
    CHECK(of_host(zones.folder())->missing().find("which root can allow: chmod a+r") !=
          std::string::npos);
}
