#include "bench/environment.hpp"

#include "bench/team.hpp"
#include "machine/cpu.hpp"
#include "machine/limits.hpp"
#include "machine/system.hpp"
#include "machine/topology.hpp"

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace bench {

namespace {

using Json = nlohmann::ordered_json;

Json cpu_record(machine::Cpu const& cpu, machine::Topology const& topology)
{
    Json caches = Json::array();
    for (auto const& cache : topology.caches) {
        caches.push_back({{"level", cache.level},
                          {"kind", cache.kind},
                          {"bytes", cache.bytes},
                          {"instances", cache.instances}});
    }
    Json record{{"model", cpu.model}};
    if (!cpu.vendor.empty()) {
        record["vendor"] = cpu.vendor;
    }
    if (cpu.signature) {
        record["family"] = cpu.signature->family;
        record["model_number"] = cpu.signature->model;
        record["stepping"] = cpu.signature->stepping;
    }
    record.update({{"architecture", cpu.architecture},
                   {"sockets", topology.sockets},
                   {"numa_nodes", topology.numa_nodes},
                   {"cores", topology.cores},
                   {"hardware_threads", topology.hardware_threads},
                   {"caches", caches},
                   {"last_level_cache_bytes", topology.last_level_cache_bytes()},
                   {"last_level_cache_known", topology.last_level_cache_known()},
                   {"governor", cpu.governor},
                   {"instruction_sets", cpu.instruction_sets}});
    if (auto const peaks = machine::peaks(cpu, topology.cores); !peaks.empty()) {
        record["peaks"] = peaks;
    }
    return record;
}

/// Variables that change how the program runs, less those that name a path.
Json environment_variables()
{
    Json variables = Json::object();
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string_view const text{*entry};
        auto const equals = text.find('=');
        auto const value = text.substr(equals + 1);
        for (auto const* prefix : {"OMP_", "GOMP_", "KMP_", "MKL_", "MALLOC_", "GLIBC_TUNABLES",
                                   "CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE"}) {
            if (text.starts_with(prefix) && value.find('/') == std::string_view::npos) {
                variables[std::string{text.substr(0, equals)}] = value;
            }
        }
    }
    return variables;
}

} // namespace

Json machine_record()
{
    auto const& cpu = machine::cpu();
    auto const& topology = machine::topology();
    auto const gpus = machine::gpus();
    return {{"slug", machine::slug(cpu.model, topology.cores, gpus)},
            {"cpu", cpu_record(cpu, topology)},
            {"memory_bytes", machine::memory_bytes()},
            {"virtual", cpu.is_virtual},
            {"os", machine::operating_system()},
            {"gpus", gpus}};
}

Json launch_record(int threads, int ranks, int hosts)
{
    // A rank is bound to a part of its host, so that its own affinity says nothing about all.
    auto const cpus = team_cpus();
    auto const on_host =
        ranks == 1 ? cpus.size() : static_cast<std::size_t>(machine::topology().hardware_threads);
    auto const limits = machine::limits();
    double const available = std::min(static_cast<double>(on_host),
                                      limits.processors.value_or(static_cast<double>(on_host)));
    return {{"threads", threads},
            {"ranks", ranks},
            {"hosts", hosts},
            {"affinity", cpus},
            {"oversubscribed", threads * ranks > hosts * available},
            {"environment", environment_variables()}};
}

Json library_record()
{
    auto const hwloc = hwloc_get_api_version();
    Json versions{
        {"glibc", gnu_get_libc_version()},
        {"hwloc", fmt::format("{}.{}.{}", hwloc >> 16, (hwloc >> 8) & 0xff, hwloc & 0xff)}};
    if (auto const driver = machine::gpu_driver_version(); !driver.empty()) {
        versions["nvidia-driver"] = driver;
    }
    return versions;
}

std::string program_sha256()
{
    constexpr auto path = "/proc/self/exe";
    std::vector<char> bytes(std::filesystem::file_size(path));
    if (!std::ifstream{path, std::ios::binary}.read(bytes.data(), std::ssize(bytes))) {
        throw std::runtime_error{fmt::format("{}: cannot be read", path)};
    }
    std::array<unsigned char, 32> digest{};
    EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string utc_now()
{
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

} // namespace bench
