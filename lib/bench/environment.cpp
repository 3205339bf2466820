#include "bench/environment.hpp"

#include "bench/gpus.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <openssl/evp.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t assumed_cache_bytes = 64u << 20;

/// The machine's topology, loaded once per call site that needs it.
class Topology
{
public:
    Topology()
    {
        if (hwloc_topology_init(&topology_) != 0) {
            throw std::runtime_error{"hwloc: cannot allocate a topology"};
        }
        hwloc_topology_set_icache_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_ALL);
        if (hwloc_topology_load(topology_) != 0) {
            hwloc_topology_destroy(topology_);
            throw std::runtime_error{"hwloc: cannot read this machine's topology"};
        }
    }
    ~Topology() { hwloc_topology_destroy(topology_); }
    Topology(Topology const&) = delete;
    Topology& operator=(Topology const&) = delete;

    int count(hwloc_obj_type_t type) const { return hwloc_get_nbobjs_by_type(topology_, type); }
    hwloc_obj_t object(hwloc_obj_type_t type, int index) const
    {
        return hwloc_get_obj_by_type(topology_, type, static_cast<unsigned>(index));
    }

private:
    hwloc_topology_t topology_ = nullptr;
};

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

std::string cpu_model(Topology const& topology)
{
    if (topology.count(HWLOC_OBJ_PACKAGE) > 0) {
        auto const* name =
            hwloc_obj_get_info_by_name(topology.object(HWLOC_OBJ_PACKAGE, 0), "CPUModel");
        if (name != nullptr && *name != '\0') {
            return name;
        }
    }
    auto const model = cpuinfo("model name");
    return model.empty() ? architecture() + " processor" : model;
}

std::string_view cache_kind(hwloc_obj_t cache)
{
    switch (cache->attr->cache.type) {
    case HWLOC_OBJ_CACHE_DATA:
        return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION:
        return "instruction";
    default:
        return "unified";
    }
}

Json caches(Topology const& topology)
{
    Json list = Json::array();
    for (auto const type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE,
                            HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
        if (topology.count(type) > 0) {
            auto const cache = topology.object(type, 0);
            list.push_back({{"level", cache->attr->cache.depth},
                            {"kind", cache_kind(cache)},
                            {"bytes", cache->attr->cache.size},
                            {"instances", topology.count(type)}});
        }
    }
    return list;
}

/// Sum over all instances of the highest data cache level, 0 if unknown.
std::size_t last_level(Topology const& topology)
{
    for (auto const type :
         {HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE}) {
        std::size_t bytes = 0;
        for (int i = 0; i < topology.count(type); ++i) {
            bytes += topology.object(type, i)->attr->cache.size;
        }
        if (bytes > 0) {
            return bytes;
        }
    }
    return 0;
}

Json instruction_sets()
{
    constexpr std::array interesting{"sse4_2",      "avx",         "avx2",     "fma",   "f16c",
                                     "avx512f",     "avx512vl",    "avx512bw", "asimd", "asimdhp",
                                     "avx512_bf16", "avx512_fp16", "amx_bf16", "sve",   "sve2"};
    std::istringstream flags{cpuinfo(architecture() == "aarch64" ? "Features" : "flags")};
    std::vector<std::string> present;
    for (std::string flag; flags >> flag;) {
        for (auto const* name : interesting) {
            if (flag == name) {
                present.push_back(flag);
            }
        }
    }
    return present;
}

bool runs_in_a_guest()
{
    return cpuinfo("flags").find("hypervisor") != std::string::npos ||
           !first_line("/sys/hypervisor/type").empty() ||
           !first_line("/proc/device-tree/hypervisor/compatible").empty();
}

std::string governor()
{
    auto const name = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    return name.empty() ? "unknown" : name;
}

void erase_all(std::string& text, std::string_view part)
{
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part)) {
        text.erase(at, part.size());
    }
}

/// " 4x H200" for four GPUs called "NVIDIA H200"; empty for none.
std::string gpu_words(Json const& gpus)
{
    if (gpus.empty()) {
        return "";
    }
    auto const count = gpus.size() > 1 ? fmt::format("{}x ", gpus.size()) : "";
    auto model = gpus[0]["name"].get<std::string>();
    erase_all(model, "NVIDIA ");
    return fmt::format(" {}{}", count, model);
}

/// "Intel(R) Xeon(R) Processor @ 2.50GHz", 2 cores, one H200: "intel-xeon-2-50ghz-2c-h200".
std::string slug(std::string model, int cores, Json const& gpus)
{
    for (auto const* noise : {"(R)", "(TM)", "(tm)", " CPU", " Processor", " processor"}) {
        erase_all(model, noise);
    }
    std::string name;
    for (char const c : fmt::format("{} {}c{}", model, cores, gpu_words(gpus))) {
        auto const byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0) {
            name += static_cast<char>(std::tolower(byte));
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    return name;
}

Json cpu_record(Topology const& topology)
{
    auto const known = last_level(topology);
    return {{"model", cpu_model(topology)},
            {"architecture", architecture()},
            {"sockets", std::max(1, topology.count(HWLOC_OBJ_PACKAGE))},
            {"numa_nodes", std::max(1, topology.count(HWLOC_OBJ_NUMANODE))},
            {"cores", std::max(1, topology.count(HWLOC_OBJ_CORE))},
            {"hardware_threads", std::max(1, topology.count(HWLOC_OBJ_PU))},
            {"caches", caches(topology)},
            {"last_level_cache_bytes", known > 0 ? known : assumed_cache_bytes},
            {"last_level_cache_known", known > 0},
            {"governor", governor()},
            {"instruction_sets", instruction_sets()}};
}

bool changes_how_it_runs(std::string_view variable)
{
    for (auto const* prefix : {"OMP_", "GOMP_", "KMP_", "MKL_", "MALLOC_", "GLIBC_TUNABLES"}) {
        if (variable.starts_with(prefix)) {
            return true;
        }
    }
    return false;
}

/// Variables that change how the program runs, less those that name a path.
Json environment_variables()
{
    Json variables = Json::object();
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string_view const text{*entry};
        auto const equals = text.find('=');
        auto const value = text.substr(equals + 1);
        if (changes_how_it_runs(text) && value.find('/') == std::string_view::npos) {
            variables[std::string{text.substr(0, equals)}] = value;
        }
    }
    return variables;
}

std::vector<int> affinity()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

} // namespace

Json machine_record()
{
    Topology const topology;
    utsname names{};
    uname(&names);
    auto const cpu = cpu_record(topology);
    auto const gpus = gpu_records();
    return {{"slug", slug(cpu["model"], cpu["cores"], gpus)},
            {"cpu", cpu},
            {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)},
            {"virtual", runs_in_a_guest()},
            {"os", fmt::format("{} {}", names.sysname, names.release)},
            {"gpus", gpus}};
}

Json launch_record(int threads, int ranks, int hosts)
{
    // A rank is bound to a part of its host, so that its own affinity says nothing about all.
    int const available = ranks == 1 ? available_threads() : hosts * Topology{}.count(HWLOC_OBJ_PU);
    return {{"threads", threads},
            {"ranks", ranks},
            {"hosts", hosts},
            {"affinity", affinity()},
            {"oversubscribed", threads * ranks > available},
            {"environment", environment_variables()}};
}

Json library_record()
{
    auto const hwloc = hwloc_get_api_version();
    Json versions{
        {"glibc", gnu_get_libc_version()},
        {"hwloc", fmt::format("{}.{}.{}", hwloc >> 16, (hwloc >> 8) & 0xff, hwloc & 0xff)}};
    if (auto const driver = gpu_driver_version(); !driver.empty()) {
        versions["nvidia-driver"] = driver;
    }
    return versions;
}

std::size_t last_level_cache_bytes()
{
    auto const known = last_level(Topology{});
    return known > 0 ? known : assumed_cache_bytes;
}

int available_threads()
{
    return static_cast<int>(affinity().size());
}

std::string file_sha256(std::string const& path)
{
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        throw std::runtime_error{fmt::format("{}: cannot be read", path)};
    }
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                    EVP_MD_CTX_free};
    EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
    std::vector<char> buffer(1 << 16);
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())),
           file.gcount() > 0) {
        EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(file.gcount()));
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context.get(), digest.data(), &size);
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
        text += fmt::format("{:02x}", digest[i]);
    }
    return text;
}

std::string program_sha256()
{
    return file_sha256("/proc/self/exe");
}

std::string utc_now()
{
    auto const now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

} // namespace bench
